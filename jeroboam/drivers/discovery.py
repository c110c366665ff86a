"""Finds and loads drivers; whatever is wrong with one of them stays its own trouble.

Each is loaded in a thread of its own with a time limit. Python cannot stop a thread: one that
hangs is reported and left behind, and does not keep the process from ending.
"""

import threading
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import EntryPoint, entry_points

import structlog

from jeroboam.drivers import dropin, inspection
from jeroboam.drivers.sources import BrokenDriver, Candidate, DriverEntry, Source
from jeroboam.errors import DriverNotInstalledError, JeroboamError
from jeroboam.settings import Settings

NAMESPACE = "jeroboam.drivers"

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Found:
    """All that was found, each in the order of its names."""

    entries: tuple[DriverEntry, ...]
    broken: tuple[BrokenDriver, ...]


def find(settings: Settings, only: str | None = None) -> Found:
    """Load all drivers; those that cannot be used are told apart and logged, a line each.

    Args:
        only: The one that is loaded; without it, all but those with workers of their own.
    """
    loaded = [
        candidate if isinstance(candidate, BrokenDriver) else load(candidate, settings)
        for candidate in _told_apart(_candidates(settings))
        if _is_wanted(candidate.name, settings, only)
    ]
    broken = tuple(one for one in loaded if isinstance(one, BrokenDriver))
    for one in broken:
        if one.not_installed:
            # Whoever does not use the driver need not care.
            log.info("driver_not_installed", driver=one.name, reason=one.reason)
        else:
            log.error("driver_broken", driver=one.name, source=str(one.source), reason=one.reason)
    return Found(tuple(one for one in loaded if isinstance(one, DriverEntry)), broken)


def _is_wanted(name: str, settings: Settings, only: str | None) -> bool:
    return name == only if only else name not in settings.own_worker_drivers


def load(candidate: Candidate, settings: Settings) -> DriverEntry | BrokenDriver:
    """Load one driver and check it, within the time that it has."""
    outcome: list[DriverEntry | BrokenDriver] = []

    def work() -> None:
        outcome.append(_loaded(candidate, settings))

    thread = threading.Thread(target=work, name=f"load {candidate.name}", daemon=True)
    thread.start()
    thread.join(settings.driver_load_seconds)
    if outcome:
        return outcome[0]
    return _broken(
        candidate, f"It was not loaded within {settings.driver_load_seconds:g} s: it hangs."
    )


def _loaded(candidate: Candidate, settings: Settings) -> DriverEntry | BrokenDriver:
    try:
        driver = inspection.checked(candidate.name, candidate.load())
        entry = DriverEntry(driver, disabled_reason(candidate.name, settings), candidate.source)
        inspection.check_files(entry)
    except DriverNotInstalledError as error:
        return replace(_broken(candidate, error.message), not_installed=True)
    except JeroboamError as error:
        return _broken(candidate, error.message)
    except BaseException as error:  # noqa: BLE001 - a driver may even try to end the process
        return _broken(candidate, _told(error))
    return entry


def disabled_reason(name: str, settings: Settings) -> str | None:
    """Return why a driver may not be used for new clusters, if that is so."""
    if name in settings.disabled_drivers:
        return "the operator lists it in disabled_drivers"
    if settings.enabled_drivers and name not in settings.enabled_drivers:
        return "the operator does not list it in enabled_drivers"
    return None


def _candidates(settings: Settings) -> list[Candidate | BrokenDriver]:
    installed = [
        Candidate(entry.name, _source(entry), partial(_instance, entry))
        for entry in entry_points(group=NAMESPACE)
    ]
    found = [*installed, *dropin.candidates(settings.drivers_directory)]
    return sorted(found, key=lambda one: (one.name, str(one.source)))


def _told_apart(
    candidates: Sequence[Candidate | BrokenDriver],
) -> list[Candidate | BrokenDriver]:
    """Refuse those that claim one name; the order in which they were found never decides.

    Of two packages neither is taken. A folder yields to a package: clusters that the package has
    built must not lose their driver to whatever is put beside it.
    """
    packaged = Counter(one.name for one in candidates if one.source.folder is None)
    return [
        _broken(one, _claims(one, candidates))
        if isinstance(one, Candidate) and packaged[one.name] > (one.source.folder is None)
        else one
        for one in candidates
    ]


def _claims(one: Candidate, candidates: Sequence[Candidate | BrokenDriver]) -> str:
    packages = ", ".join(
        str(other.source)
        for other in candidates
        if other.name == one.name and other.source.folder is None
    )
    if one.source.folder is None:
        return f"Several packages claim this name: {packages}. Remove all but one."
    return f"The package {packages} has this name already. Give the folder another one."


def _source(entry: EntryPoint) -> Source:
    package = entry.dist
    return Source(package=package.name, version=package.version) if package else Source()


def _instance(entry: EntryPoint) -> object:
    return entry.load()()


def _broken(candidate: Candidate, reason: str) -> BrokenDriver:
    return BrokenDriver(candidate.name, candidate.source, " ".join(reason.split()))


def _told(error: BaseException) -> str:
    """Return an unexpected error with the place where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    text = f": {error}" if str(error) else ""
    return f"{type(error).__name__}{text}{where}"
