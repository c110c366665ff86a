"""What must hold of a driver before anybody may use it."""

import importlib
import importlib.util
import re
from types import ModuleType

from jeroboam.drivers.base import ClusterDriver, Provides
from jeroboam.drivers.sources import DriverEntry
from jeroboam.errors import DriverContractError

SEMANTIC_VERSION = re.compile(
    r"(?P<major>0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
_MAJOR_IN_NAME = re.compile(r"_v(\d+)$")


def checked(name: str, driver: object) -> ClusterDriver:
    """Return a driver after a look at what it says of itself.

    Args:
        name: Under which it was found.

    Raises:
        DriverContractError: It is none, or what it says does not fit together.
    """
    if not isinstance(driver, ClusterDriver):
        raise DriverContractError(f"It is no ClusterDriver but a {type(driver).__name__}.")
    if driver.name != name:
        raise DriverContractError(f"It calls itself '{driver.name}', and was found as '{name}'.")
    _check_version(driver)
    _check_provides(driver)
    return driver


def check_files(entry: DriverEntry) -> None:
    """Check the files of a driver, and have it check whatever else it needs.

    Raises:
        DriverContractError: Some are not as they must be.
    """
    _ = entry.files
    entry.driver.check_installation()


def major(version: str) -> int | None:
    """Return the first number of a semantic version; ``None`` if it is no such version."""
    match = SEMANTIC_VERSION.fullmatch(version)
    return int(match["major"]) if match else None


def _check_version(driver: ClusterDriver) -> None:
    version = driver.version
    if not isinstance(version, str) or major(version) is None:
        raise DriverContractError(f"Its version is '{version}', which is no semantic version.")
    in_name = _MAJOR_IN_NAME.search(driver.name)
    if in_name and int(in_name[1]) not in {major(version), 1 if major(version) == 0 else None}:
        raise DriverContractError(
            f"Its name ends in _v{in_name[1]} and its version is {version}. Another major version "
            f"is another driver, beside this one: call it "
            f"{_MAJOR_IN_NAME.sub('', driver.name)}_v{major(version)}."
        )
    module = _version_module(driver)
    if module is None:
        return
    told = (getattr(module, "Driver", None), getattr(module, "version", None))
    if told != (driver.name, version):
        raise DriverContractError(
            f"Its version.py says {told[0]} {told[1]}, and the driver itself says "
            f"{driver.name} {version}."
        )


def _version_module(driver: ClusterDriver) -> ModuleType | None:
    package = type(driver).__module__.rpartition(".")[0]
    name = f"{package}.version"
    if not package or importlib.util.find_spec(name) is None:
        return None
    return importlib.import_module(name)


def _check_provides(driver: ClusterDriver) -> None:
    provides = driver.provides
    if not provides or not all(isinstance(one, Provides) for one in provides):
        raise DriverContractError("Its 'provides' names no kind of cluster.")
    twice = {one for one in provides if list(provides).count(one) > 1}
    if twice:
        named = "; ".join(sorted(one.words for one in twice))
        raise DriverContractError(f"Its 'provides' names a kind of cluster twice: {named}.")
