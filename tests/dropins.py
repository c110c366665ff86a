"""Writes drivers as folders, as an operator puts them into the drop-in directory."""

import os
from collections.abc import Mapping
from pathlib import Path

VERSION = '''"""Name and version of the driver."""

Driver = "{name}"
version = "{version}"
'''

DRIVER = '''"""A driver that pretends."""

from pathlib import Path

from jeroboam.drivers.base import Provides
from jeroboam.drivers.fake.driver import FakeDriver

from . import version


class Pretender(FakeDriver):
    name = version.Driver
    version = version.version
    provides = (Provides(server_type="vm", os="{os}", coe="kubernetes"),)

    def __init__(self):
        super().__init__(Path("{clusters}"))
'''


def put_driver(
    directory: Path,
    name: str,
    *,
    version: str = "1.0.0",
    setup: str = "plain",
    os_name: str = "fake",
    clusters: Path = Path("/nonexistent"),
    files: Mapping[str, str] | None = None,
) -> Path:
    """Write a driver, or the next version of one that is there; return its folder.

    Args:
        setup: What its template says.
        clusters: Where it keeps its pretended clusters.
        files: Further files, or others in their place.
    """
    folder = directory / name
    texts = {
        "version.py": VERSION.format(name=name, version=version),
        "driver.py": DRIVER.format(os=os_name, clusters=clusters),
        "templates/node.yaml": f"setup: {setup}\n",
        **(files or {}),
    }
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
        (folder / path).chmod(0o644)
    for path, _, _ in os.walk(directory):
        Path(path).chmod(0o755)
    for compiled in folder.rglob("*.pyc"):
        # Two versions written within a second have equal times, which Python compares.
        compiled.unlink()
    return folder
