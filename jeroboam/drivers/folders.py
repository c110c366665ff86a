"""Reads the files that lie in a driver's folder."""

import sys
from pathlib import Path

from jeroboam.errors import DriverContractError

TEMPLATES = "templates"
_LEFT_OUT = frozenset({"__pycache__"})


def templates_of(kind: type) -> Path | None:
    """Return the folder ``templates`` beside the module of a class, or of the nearest base."""
    for one in kind.__mro__:
        source = getattr(sys.modules.get(one.__module__), "__file__", None)
        if source and (folder := Path(source).parent / TEMPLATES).is_dir():
            return folder
    return None


def texts(folder: Path) -> dict[str, str]:
    """Return the texts of all files below a folder by their relative path.

    Hidden files, and what Python compiles, are left out.

    Raises:
        DriverContractError: One cannot be read, or is no text in UTF-8.
    """
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    relative = ((path, path.relative_to(folder)) for path in found)
    return {
        name.as_posix(): _text(path, name)
        for path, name in relative
        if not any(part.startswith(".") or part in _LEFT_OUT for part in name.parts)
    }


def _text(path: Path, name: Path) -> str:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise DriverContractError(f"{name} cannot be read as UTF-8 text: {error}") from error
