"""Tells plug-ins, which OpenStack loads, which devcloud they are part of."""

import os
from pathlib import Path

from devcloud.layout import Layout


def current() -> Layout:
    """Return the layout of the devcloud that this process serves.

    Raises:
        RuntimeError: If the process was not started by devcloud.
    """
    home = os.environ.get("DEVCLOUD_HOME", "")
    layout = Layout.load(Path(home)) if home else None
    if layout is None:
        raise RuntimeError(f"DEVCLOUD_HOME ({home!r}) holds no devcloud")
    return layout
