"""Makes a new driver from one that is there: its folder under another name, and a project."""

import ast
import inspect
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from jeroboam.authoring.names import DriverName
from jeroboam.authoring.project import surround
from jeroboam.drivers import folders
from jeroboam.drivers.base import ClusterDriver
from jeroboam.errors import InvalidRequestError

FIRST_VERSION = 'version = "1.0.0"'

_VERSION = re.compile(r"^version = .*$", re.MULTILINE)


def copy_driver(driver: ClusterDriver, name: DriverName, parent: Path) -> Path:
    """Write a project with a new driver that begins as a copy of another; return its folder.

    Args:
        driver: The one to begin with.
        parent: Where the project is written; the folder in it has the new driver's name.

    Raises:
        InvalidRequestError: There is something of that name, or it cannot be written.
    """
    copied = {f"{name.text}/{path}": text for path, text in renamed(driver, name).items()}
    target = parent / name.text
    _write(target, {**copied, **surround(name, driver)})
    return target


def renamed(driver: ClusterDriver, name: DriverName) -> dict[str, str]:
    """Return the files of a driver's folder with the new driver's names in place of its own.

    Templates and scripts that it shares with others are among them, so that all can be changed.
    Modules refer to each other relatively, so that the folder works in a package and without one.
    """
    module = inspect.getmodule(driver)
    package, source = (module.__package__, module.__file__) if module else (None, None)
    if not package or not source:
        raise InvalidRequestError(f"The driver {driver.name} has no folder that could be copied.")
    texts = {**_shared(driver), **folders.texts(Path(source).parent)}
    wording = _Wording(driver, package, name)
    return {path: wording.rewrite(path, text) for path, text in sorted(texts.items())}


def _shared(driver: ClusterDriver) -> dict[str, str]:
    """Return the templates of a driver, wherever they lie."""
    files = getattr(getattr(driver, "definition", None), "files", None)
    return (
        {f"{folders.TEMPLATES}/{name}": text for name, text in files.texts().items()}
        if files
        else {}
    )


class _Wording:
    """Exchanges the names of a driver."""

    def __init__(self, driver: ClusterDriver, package: str, name: DriverName) -> None:
        self._package = re.escape(package)
        old = DriverName(driver.name)
        self._words = {
            package: name.text,
            old.variable: name.variable,
            driver.name: name.text,
            type(driver).__name__: name.class_name,
            type(driver).__name__.removesuffix("Driver"): name.class_name.removesuffix("Driver"),
        }
        words = "|".join(re.escape(one) for one in sorted(self._words, key=len, reverse=True))
        self._pattern = re.compile(rf"(?<![A-Za-z0-9_])(?:{words})(?![a-z0-9])")

    def rewrite(self, path: str, text: str) -> str:
        """Return a file's text with the new names."""
        if path.endswith(".py"):
            text = self._relative(path, text)
        if path == "version.py":
            text = _VERSION.sub(FIRST_VERSION, text)
        return self._pattern.sub(lambda found: self._words[found.group()], text)

    def _relative(self, path: str, text: str) -> str:
        """Let modules import each other relatively, after all other imports."""
        found = [
            one for one in ast.parse(text).body if isinstance(one, ast.ImportFrom | ast.Import)
        ]
        own = [one for one in found if self._is_own(one)]
        if not own:
            return text
        lines = text.splitlines()
        moved = [line for one in own for line in lines[one.lineno - 1 : one.end_lineno]]
        gone = {at for one in own for at in range(one.lineno - 1, one.end_lineno or one.lineno)}
        end = found[-1].end_lineno or 0
        head = [line for at, line in enumerate(lines[:end]) if at not in gone]
        dots = "." * len(PurePosixPath(path).parts)
        package = re.compile(rf"^from {self._package}(\.|(?= import))")
        return "\n".join(
            [*head, "", *(package.sub(f"from {dots}", one) for one in moved), *lines[end:], ""]
        )

    def _is_own(self, node: ast.Import | ast.ImportFrom) -> bool:
        module = getattr(node, "module", None) or ""
        return bool(re.match(rf"{self._package}(\.|$)", module))


def _write(target: Path, files: Mapping[str, str]) -> None:
    """Write a new folder, all of it or nothing."""
    if target.exists():
        raise InvalidRequestError(
            f"{target} is there already, and is left as it is. Remove it, or choose another name "
            "or --directory."
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as draft:
            folder = Path(draft) / target.name
            for name, text in files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            folder.rename(target)
    except OSError as error:
        raise InvalidRequestError(f"{target} cannot be written: {error}") from error
