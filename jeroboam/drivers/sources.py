"""Where drivers come from, and what became of each when it was loaded."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from jeroboam.drivers.base import ClusterDriver
from jeroboam.models import DriverFiles


@dataclass(frozen=True)
class Source:
    """Where a driver comes from: a package, or a folder of the operator's directory.

    Args:
        package: Name of the distribution package that brings it along.
        version: That package's version.
        folder: The driver's folder in the drop-in directory.
        host: Where its own worker runs, if it has one.
    """

    package: str | None = None
    version: str | None = None
    folder: Path | None = None
    host: str | None = None

    def __str__(self) -> str:
        if self.host:
            return f"{self.package}, in a worker of its own on {self.host}"
        if self.folder:
            return str(self.folder)
        return " ".join(part for part in (self.package, self.version) if part) or "this process"


@dataclass(frozen=True)
class Candidate:
    """Something that says it is a driver.

    Args:
        name: What the entry point, or the folder, is called.
        load: Returns an instance; whatever it raises, or however long it takes.
    """

    name: str
    source: Source
    load: Callable[[], object]


@dataclass(frozen=True)
class DriverEntry:
    """One driver that can be used, and why it may not be.

    Args:
        queue: The task queue of its own workers; ``None`` if it runs in any.
    """

    driver: ClusterDriver
    disabled_reason: str | None = None
    source: Source = field(default_factory=Source)
    queue: str | None = None

    @property
    def enabled(self) -> bool:
        """Whether clusters can be made with it."""
        return self.disabled_reason is None

    @cached_property
    def files(self) -> DriverFiles | None:
        """What its clusters are built from, as it was when this was first asked.

        Raises:
            DriverContractError: The driver cannot say, or they are too large.
        """
        contents = self.driver.files()
        return DriverFiles.of(contents) if contents else None


@dataclass(frozen=True)
class BrokenDriver:
    """One that cannot be used.

    Args:
        reason: For the operator; it may name paths.
        not_installed: Whether nothing is wrong with it, but what it needs is not there.
    """

    name: str
    source: Source
    reason: str
    not_installed: bool = False


def abilities(driver: ClusterDriver) -> Sequence[str]:
    """Return what a driver can do beyond the core, in words with ``_`` between them."""
    names = (kind.__name__ for kind in type(driver).__mro__)
    found = (name.removeprefix("Supports") for name in names if name.startswith("Supports"))
    return sorted(re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in found)
