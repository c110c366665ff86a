"""Drivers that lie in a directory of the operator's, as folders, without packaging.

What lies there runs with the rights of API and worker. Hence nobody but root, or the user that they
run as, may be able to change any of it.
"""

import importlib
import os
import stat
import sys
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from inspect import isclass
from pathlib import Path
from types import ModuleType

from jeroboam.drivers.base import ClusterDriver
from jeroboam.drivers.sources import BrokenDriver, Candidate, Source
from jeroboam.errors import DriverContractError

PREFIX = "_jeroboam_dropin_"
REQUIRED = ("driver.py", "version.py")

_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def candidates(directory: Path) -> list[Candidate | BrokenDriver]:
    """Return the drivers of a directory by the names of their folders; none if it is not there."""
    try:
        names = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
    except FileNotFoundError:
        return []
    except OSError as error:
        reason = f"The directory cannot be read: {error.strerror}."
        return [BrokenDriver(directory.name, Source(folder=directory), reason)]
    return [
        _candidate(directory, name) for name in names if not name.startswith((".", "__pycache__"))
    ]


def _candidate(directory: Path, name: str) -> Candidate | BrokenDriver:
    folder = directory / name
    source = Source(folder=folder)
    try:
        _check_place(directory)
        _check_tree(folder)
    except DriverContractError as error:
        return BrokenDriver(name, source, error.message)
    return Candidate(name, source, partial(load, folder))


def load(folder: Path) -> ClusterDriver:
    """Return an instance of the driver in a folder.

    Its modules are imported under a name that no installed package can have; within the folder
    they import each other relatively, ``from . import version``.

    Raises:
        DriverContractError: The folder has not what belongs to a driver.
    """
    missing = [name for name in REQUIRED if not (folder / name).is_file()]
    if missing:
        raise DriverContractError(f"The folder has no {' and no '.join(missing)}.")
    package = _package(folder)
    module = importlib.import_module(f"{package}.driver")
    return _class_in(module, folder.name)()


def _package(folder: Path) -> str:
    """Make a package of a folder, anew whenever drivers are loaded; return its name."""
    mark = sha256(str(folder.resolve()).encode()).hexdigest()[:12]
    name = f"{PREFIX}{mark}_{folder.name}"
    for known in [one for one in sys.modules if one == name or one.startswith(f"{name}.")]:
        del sys.modules[known]
    importlib.invalidate_caches()
    package = ModuleType(name)
    package.__path__ = [str(folder)]
    package.__package__ = name
    sys.modules[name] = package
    return name


def _class_in(module: ModuleType, name: str) -> type[ClusterDriver]:
    own = [
        one
        for one in vars(module).values()
        if isclass(one) and issubclass(one, ClusterDriver) and one.__module__ == module.__name__
    ]
    named = [one for one in own if getattr(one, "name", None) == name]
    chosen = named or own
    if len(chosen) != 1:
        found = ", ".join(sorted(one.__name__ for one in chosen)) or "none"
        raise DriverContractError(
            f"Its driver.py must define one ClusterDriver with the name '{name}'. Found: {found}."
        )
    return chosen[0]


def _check_place(directory: Path) -> None:
    """Check that nobody else can put another directory in the place of this one.

    Raises:
        DriverContractError: Somebody can.
    """
    real = directory.resolve()
    _check_entry(real)
    for parent in real.parents:
        mode = parent.stat().st_mode
        # In a directory with the sticky bit nobody can rename what is another's.
        if mode & _OTHERS and not mode & stat.S_ISVTX:
            raise _refused(parent, mode)


def _check_tree(folder: Path) -> None:
    for path in _below(folder):
        if path.is_symlink():
            raise DriverContractError(
                f"{path} is a symbolic link; what a driver consists of must lie in its folder."
            )
        _check_entry(path)


def _below(folder: Path) -> Iterator[Path]:
    yield folder
    if not folder.is_symlink():
        yield from sorted(folder.rglob("*"))


def _check_entry(path: Path) -> None:
    found = path.lstat()
    if found.st_mode & _OTHERS:
        raise _refused(path, found.st_mode)
    if found.st_uid not in {0, os.geteuid()}:
        raise DriverContractError(
            f"{path} belongs to the user {found.st_uid}, who could change what runs here. Give it "
            f"to root: chown root {path}"
        )


def _refused(path: Path, mode: int) -> DriverContractError:
    return DriverContractError(
        f"{path} can be changed by others than its owner ({stat.filemode(mode)}), and what lies "
        f"there runs with Jeroboam's rights. Correct it: chmod go-w {path}"
    )
