"""Placement: it migrates its own database, see ``sync_on_startup``."""

import os
from typing import Any

from devcloud.layout import Layout


def build(layout: Layout) -> dict[str, Any]:
    """Return the application."""
    os.environ["OS_PLACEMENT_CONFIG_DIR"] = str(layout.etc / "placement")
    from placement.wsgi.api import application

    return {"placement": application}
