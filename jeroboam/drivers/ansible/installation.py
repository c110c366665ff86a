"""What Ansible needs on the worker's host, and whether it is there."""

import os
import sys
from importlib import metadata, util
from pathlib import Path

from jeroboam.errors import DriverNotInstalledError

REMEDY = "pip install 'jeroboam[ansible]'"

_PACKAGES = ("ansible-core", "ansible-runner")
_COLLECTION = ("openstack", "cloud", "MANIFEST.json")


def check() -> None:
    """Check that Ansible and its collection for OpenStack are installed.

    Raises:
        DriverNotInstalledError: Something is missing; the message has the command that mends it.
    """
    missing = [name for name in _PACKAGES if not _installed(name)]
    if not missing and collections() is None:
        missing = ["the collection openstack.cloud"]
    if missing:
        raise DriverNotInstalledError(
            f"The driver needs {' and '.join(missing)}, which cannot be found. Install with: "
            f"{REMEDY}"
        )


def collections() -> Path | None:
    """Return the folder of the collections that were installed with the package ``ansible``."""
    found = util.find_spec("ansible_collections")
    for place in (found.submodule_search_locations or ()) if found else ():
        if Path(place).joinpath(*_COLLECTION).is_file():
            return Path(place)
    return None


def programs() -> str:
    """Return a search path on which ``ansible-playbook`` is found first."""
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"


def _installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True
