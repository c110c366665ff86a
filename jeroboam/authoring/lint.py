"""Looks at a driver's folder: what is missing, what is broken, what nobody will understand."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from jeroboam.authoring import heat_rules
from jeroboam.authoring.names import DriverName
from jeroboam.drivers import discovery, dropin
from jeroboam.drivers.base import ClusterDriver
from jeroboam.drivers.heat.driver import HeatDriver
from jeroboam.drivers.sources import BrokenDriver, Candidate, Source
from jeroboam.errors import InvalidRequestError
from jeroboam.settings import Settings

TEXTS = frozenset({".py", ".yaml", ".yml", ".sh", ".md", ".service", ".conf", ".json", ".toml"})
SCRIPT_SECONDS = 30

_OPTIONAL = ("template_def.py", "api.py", "monitor.py", "scale.py")
_FOLDERS = frozenset({"templates", "image"})


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Args:
        path: Relative to the driver's folder; empty if it is about the whole.
        text: What is wrong, and what to do.
    """

    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: {self.text}" if self.path else self.text


def lint(folder: Path) -> list[Finding]:
    """Return all that is wrong with a driver's folder, in the order in which it is best mended.

    The driver is imported, as API and worker would do it.

    Raises:
        InvalidRequestError: There is no such folder.
    """
    if not folder.is_dir():
        raise InvalidRequestError(
            f"{folder} is no folder. Give that in which the driver's driver.py is."
        )
    driver = _load(folder)
    rules: tuple[Callable[[Path], Iterator[Finding]], ...] = (_name, _layout, _image, _scripts)
    found = [finding for rule in rules for finding in rule(folder)]
    if isinstance(driver, BrokenDriver):
        return [Finding("", driver.reason), *found]
    return [*found, *_of_engine(driver)]


def _load(folder: Path) -> ClusterDriver | BrokenDriver:
    """Load the driver as the drop-in directory would, within the same time."""
    real = folder.resolve()
    candidate = Candidate(real.name, Source(folder=real), lambda: dropin.load(real))
    loaded = discovery.load(candidate, Settings())
    return loaded if isinstance(loaded, BrokenDriver) else loaded.driver


def _name(folder: Path) -> Iterator[Finding]:
    try:
        DriverName.read(folder.resolve().name)
    except InvalidRequestError as error:
        yield Finding("", error.message)


def _layout(folder: Path) -> Iterator[Finding]:
    """Yield what is not where the layout of drivers has it."""
    known = {*dropin.REQUIRED, *_OPTIONAL, "__init__.py"}
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name not in _FOLDERS and (path / "driver.py").exists():
            yield Finding(path.name, "A driver within a driver; give it a folder of its own.")
        if path.is_file() and path.stem in {"template", "templates"} and path.name not in known:
            yield Finding(path.name, "Templates belong into the folder 'templates'.")
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in TEXTS and not _is_text(path):
            yield Finding(_relative(path, folder), "It is no text in UTF-8.")


def _image(folder: Path) -> Iterator[Finding]:
    page = folder / "image" / "README.md"
    if not page.is_file() or not page.read_text(errors="replace").strip():
        yield Finding(
            "image/README.md", "Say here how the image is built or fetched, and registered."
        )


def _scripts(folder: Path) -> Iterator[Finding]:
    """Have the shell read each script, and shellcheck where it is installed."""
    places = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    checker = shutil.which("shellcheck", path=places)
    for path in sorted(folder.rglob("*.sh")):
        command = [checker, "--exclude=SC1091", str(path)] if checker else ["bash", "-n", str(path)]
        done = subprocess.run(  # noqa: S603 - fixed commands, and paths of the author's own
            command, capture_output=True, text=True, timeout=SCRIPT_SECONDS, check=False
        )
        if done.returncode:
            yield Finding(_relative(path, folder), (done.stdout + done.stderr).strip())


def _of_engine(driver: ClusterDriver) -> Iterator[Finding]:
    if isinstance(driver, HeatDriver):
        for path, text in heat_rules.problems(driver):
            yield Finding(path, text)


def _is_text(path: Path) -> bool:
    try:
        path.read_bytes().decode()
    except UnicodeDecodeError:
        return False
    return True


def _relative(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()
