"""Finds the installed drivers and selects the one for a cluster.

Selection follows the seed "improve driver discovery": the template's explicit driver, then the
image property ``magnum_driver``, then the tuple (server type, OS, COE) where the OS is the image
property ``magnum_distro`` and, deprecated, ``os_distro``. Load order never decides.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from jeroboam.drivers import discovery
from jeroboam.drivers.base import ClusterDriver, Provides
from jeroboam.drivers.sources import BrokenDriver, DriverEntry
from jeroboam.errors import (
    AmbiguousDriverError,
    ConfigurationError,
    DriverNotFoundError,
    InvalidRequestError,
)
from jeroboam.models import DriverFiles
from jeroboam.settings import Settings

__all__ = ["BrokenDriver", "DriverEntry", "DriverRegistry", "Selection"]

OS_DISTRO_DEPRECATED = (
    "The image says its distribution with the property 'os_distro' only, which is deprecated for "
    "this use; set 'magnum_distro' on the image."
)


@dataclass(frozen=True)
class Selection:
    """The outcome of a selection.

    Args:
        distro: The distribution that the image declares.
        warnings: What the user should know, for example a deprecated property.
    """

    driver: ClusterDriver
    distro: str
    warnings: tuple[str, ...] = ()


class DriverRegistry:
    """The drivers of this process, by name.

    Args:
        entries: Those that can be used.
        broken: Those that cannot.
        settings: Say which of them may be used.
    """

    def __init__(
        self,
        entries: Iterable[DriverEntry],
        broken: Iterable[BrokenDriver] = (),
        settings: Settings | None = None,
    ) -> None:
        self._here = {entry.driver.name: entry for entry in entries}
        self._broken_here = tuple(broken)
        self._elsewhere: Mapping[str, DriverEntry] = {}
        self._broken_elsewhere: tuple[BrokenDriver, ...] = ()
        self._followers: list[Callable[[], None]] = []
        self._settings = settings or Settings()

    @classmethod
    def load(cls, settings: Settings, only: str | None = None) -> "DriverRegistry":
        """Load all drivers that are installed or lie in the drop-in directory.

        One that cannot be used is logged and told apart; it harms nobody else. Those that run in
        workers of their own are not loaded.

        Args:
            only: The one driver that is loaded, in a worker of its own.

        Raises:
            ConfigurationError: The settings name a driver that is not there.
        """
        found = discovery.find(settings, only)
        registry = cls(found.entries, found.broken, settings)
        known = registry.names | {*settings.own_worker_drivers}
        unknown = {*settings.enabled_drivers, *settings.disabled_drivers} - known
        if unknown and only is None:
            raise ConfigurationError(
                f"The settings enable or disable drivers that are not installed: "
                f"{', '.join(sorted(unknown))}. Installed: {registry.listed}."
            )
        return registry

    def put_elsewhere(self, entries: Iterable[DriverEntry], broken: Iterable[BrokenDriver]) -> None:
        """Take over what is known by now of the drivers in workers of their own."""
        before = self._elsewhere
        self._elsewhere = {entry.driver.name: entry for entry in entries}
        self._broken_elsewhere = tuple(broken)
        if self._elsewhere != before:
            for changed in self._followers:
                changed()

    def follow(self, changed: Callable[[], None]) -> None:
        """Have a function called after each change of the drivers that can be used."""
        self._followers.append(changed)

    def runs_elsewhere(self, name: str) -> bool:
        """Return whether a driver runs in a worker of its own."""
        return name in self._elsewhere

    def disabled_reason(self, name: str) -> str | None:
        """Return why a driver may not be used for new clusters, if that is so."""
        return discovery.disabled_reason(name, self._settings)

    @property
    def _entries(self) -> Mapping[str, DriverEntry]:
        return {**self._here, **self._elsewhere}

    @property
    def _broken(self) -> tuple[BrokenDriver, ...]:
        return (*self._broken_here, *self._broken_elsewhere)

    @property
    def names(self) -> frozenset[str]:
        """The names of all drivers, of the broken ones too."""
        return frozenset({*self._entries, *(one.name for one in self._broken)})

    @property
    def listed(self) -> str:
        """All names in one line, those of broken drivers marked."""
        marks = {name: name for name in self._entries}
        marks |= {
            one.name: f"{one.name} ({'not installed' if one.not_installed else 'broken'})"
            for one in self._broken
            if one.name not in marks
        }
        return ", ".join(marks[name] for name in sorted(marks)) or "none"

    def entries(self) -> tuple[DriverEntry, ...]:
        """Return all drivers that can be used, the disabled ones too."""
        return tuple(self._entries.values())

    def broken(self) -> tuple[BrokenDriver, ...]:
        """Return those that cannot be used, with the reasons."""
        return self._broken

    def entry(self, name: str) -> DriverEntry:
        """Return a driver with what is known of it, even when it is disabled.

        Raises:
            DriverNotFoundError: It is not installed, or cannot be used.
        """
        if name in self._entries:
            return self._entries[name]
        if name in self.names:
            raise DriverNotFoundError(
                f"Driver '{name}' is known and cannot be used. Operators read the reason in "
                f"'jeroboam driver show {name}'."
            )
        raise DriverNotFoundError(f"Driver '{name}' is not installed. Installed: {self.listed}.")

    def installed(self, name: str) -> ClusterDriver:
        """Return a driver even when it is disabled, for what exists already: a delete, say.

        Raises:
            DriverNotFoundError: It is not installed, or cannot be used.
        """
        return self.entry(name).driver

    def files(self, name: str) -> DriverFiles | None:
        """Return what new clusters of a driver are built from.

        Raises:
            DriverNotFoundError: It is not installed, or cannot be used.
        """
        return self.entry(name).files

    def get(self, name: str) -> ClusterDriver:
        """Return an enabled driver.

        Raises:
            DriverNotFoundError: It is not installed, or is disabled.
        """
        driver = self.installed(name)
        reason = self.entry(name).disabled_reason
        if reason:
            raise DriverNotFoundError(f"Driver '{name}' is disabled: {reason}.")
        return driver

    def select(
        self,
        *,
        explicit: str | None,
        image_properties: Mapping[str, Any],
        coe: str,
        server_type: str,
    ) -> Selection:
        """Select the driver for a template.

        Args:
            explicit: The template's ``driver``.
            image_properties: Properties of the Glance image.
            coe: The template's container orchestration engine.
            server_type: ``vm`` or ``bm``.

        Raises:
            InvalidRequestError: The image declares no distribution, or the driver named does not
                build such a cluster.
            DriverNotFoundError: No enabled driver fits, or the one named is unknown or disabled.
            AmbiguousDriverError: Several fit; the message names them.
        """
        distro, warnings = _distro_of(image_properties)
        wanted = Provides(server_type=server_type, os=distro, coe=coe)
        name = explicit or image_properties.get("magnum_driver")
        if name:
            return Selection(self._named(str(name), wanted), distro, warnings)
        return Selection(self._matching(wanted), distro, warnings)

    def _named(self, name: str, wanted: Provides) -> ClusterDriver:
        driver = self.get(name)
        if wanted not in driver.provides:
            raise InvalidRequestError(
                f"Driver '{name}' does not build {wanted.words} clusters. "
                f"It builds: {'; '.join(kind.words for kind in driver.provides)}."
            )
        return driver

    def _matching(self, wanted: Provides) -> ClusterDriver:
        building = [entry for entry in self._entries.values() if wanted in entry.driver.provides]
        fitting = [entry for entry in building if not entry.driver.only_by_name]
        enabled = [entry.driver for entry in fitting if entry.enabled]
        if len(enabled) > 1:
            names = ", ".join(driver.name for driver in enabled)
            raise AmbiguousDriverError(
                f"Several drivers build {wanted.words} clusters: {names}. Name one in the "
                "template's 'driver', or in the image property 'magnum_driver'."
            )
        if enabled:
            return enabled[0]
        hint = "".join(
            f" Driver '{entry.driver.name}' would, but is disabled: {entry.disabled_reason}."
            for entry in fitting
        )
        hint += "".join(
            f" Driver '{entry.driver.name}' would, if the template's 'driver' named it."
            for entry in building
            if entry.driver.only_by_name and entry.enabled
        )
        raise DriverNotFoundError(f"No driver builds {wanted.words} clusters.{hint}")


def _distro_of(properties: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    if properties.get("magnum_distro"):
        return str(properties["magnum_distro"]), ()
    if properties.get("os_distro"):
        return str(properties["os_distro"]), (OS_DISTRO_DEPRECATED,)
    raise InvalidRequestError(
        "The image does not declare its distribution. Set the property 'magnum_distro' on it, for "
        "example: openstack image set --property magnum_distro=fedora-coreos IMAGE"
    )
