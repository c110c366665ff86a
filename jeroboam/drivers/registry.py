"""Finds the installed drivers and selects the one for a cluster.

Selection follows the seed "improve driver discovery": the template's explicit driver, then the
image property ``magnum_driver``, then the tuple (server type, OS, COE) where the OS is the image
property ``magnum_distro`` and, deprecated, ``os_distro``. Load order never decides.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from jeroboam import plugins
from jeroboam.drivers.base import ClusterDriver, Provides
from jeroboam.errors import (
    AmbiguousDriverError,
    ConfigurationError,
    DriverContractError,
    DriverNotFoundError,
    InvalidRequestError,
)
from jeroboam.settings import Settings

NAMESPACE = "jeroboam.drivers"
OS_DISTRO_DEPRECATED = (
    "The image says its distribution with the property 'os_distro' only, which is deprecated for "
    "this use; set 'magnum_distro' on the image."
)

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class DriverEntry:
    """One installed driver, and why it may not be used."""

    driver: ClusterDriver
    disabled_reason: str | None = None

    @property
    def enabled(self) -> bool:
        """Whether clusters can be made with it."""
        return self.disabled_reason is None


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
    """The drivers of this process, by name."""

    def __init__(self, entries: Iterable[DriverEntry]) -> None:
        self._entries = {entry.driver.name: entry for entry in entries}

    @classmethod
    def load(cls, settings: Settings) -> "DriverRegistry":
        """Load all installed drivers.

        Raises:
            DriverContractError: A driver cannot be imported, is no ``ClusterDriver``, has another
                name than its entry point, or two packages claim one name.
            ConfigurationError: The settings name a driver that is not installed.
        """
        drivers = _load_drivers()
        unknown = {*settings.enabled_drivers, *settings.disabled_drivers} - drivers.keys()
        if unknown:
            raise ConfigurationError(
                f"The settings enable or disable drivers that are not installed: "
                f"{', '.join(sorted(unknown))}. Installed: {', '.join(sorted(drivers))}."
            )
        return cls(
            DriverEntry(driver, _disabled_reason(name, settings))
            for name, driver in sorted(drivers.items())
        )

    def entries(self) -> tuple[DriverEntry, ...]:
        """Return all drivers, the disabled ones too."""
        return tuple(self._entries.values())

    def installed(self, name: str) -> ClusterDriver:
        """Return a driver even when it is disabled, for what exists already: a delete, say.

        Raises:
            DriverNotFoundError: It is not installed.
        """
        if name not in self._entries:
            raise DriverNotFoundError(
                f"Driver '{name}' is not installed. Installed: {', '.join(self._entries)}."
            )
        return self._entries[name].driver

    def get(self, name: str) -> ClusterDriver:
        """Return an enabled driver.

        Raises:
            DriverNotFoundError: It is not installed, or is disabled.
        """
        driver = self.installed(name)
        reason = self._entries[name].disabled_reason
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
                f"Driver '{name}' does not build {_describe(wanted)} clusters. "
                f"It builds: {'; '.join(_describe(kind) for kind in driver.provides)}."
            )
        return driver

    def _matching(self, wanted: Provides) -> ClusterDriver:
        fitting = [entry for entry in self._entries.values() if wanted in entry.driver.provides]
        enabled = [entry.driver for entry in fitting if entry.enabled]
        if len(enabled) > 1:
            names = ", ".join(driver.name for driver in enabled)
            raise AmbiguousDriverError(
                f"Several drivers build {_describe(wanted)} clusters: {names}. Name one in the "
                "template's 'driver', or in the image property 'magnum_driver'."
            )
        if enabled:
            return enabled[0]
        hint = "".join(
            f" Driver '{entry.driver.name}' would, but is disabled: {entry.disabled_reason}."
            for entry in fitting
        )
        raise DriverNotFoundError(f"No driver builds {_describe(wanted)} clusters.{hint}")


def _load_drivers() -> dict[str, ClusterDriver]:
    found = plugins.load(NAMESPACE, "driver")
    return {name: _checked(name, driver) for name, driver in found.items()}


def _checked(name: str, driver: object) -> ClusterDriver:
    if not isinstance(driver, ClusterDriver):
        raise DriverContractError(f"Driver '{name}' is no ClusterDriver but {type(driver)!r}.")
    if driver.name != name:
        raise DriverContractError(
            f"Driver '{driver.name}' is registered under another name, '{name}'."
        )
    return driver


def _disabled_reason(name: str, settings: Settings) -> str | None:
    if name in settings.disabled_drivers:
        return "the operator lists it in disabled_drivers"
    if settings.enabled_drivers and name not in settings.enabled_drivers:
        return "the operator does not list it in enabled_drivers"
    return None


def _distro_of(properties: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    if properties.get("magnum_distro"):
        return str(properties["magnum_distro"]), ()
    if properties.get("os_distro"):
        log.warning("os_distro_deprecated", os_distro=properties["os_distro"])
        return str(properties["os_distro"]), (OS_DISTRO_DEPRECATED,)
    raise InvalidRequestError(
        "The image does not declare its distribution. Set the property 'magnum_distro' on it, for "
        "example: openstack image set --property magnum_distro=fedora-coreos IMAGE"
    )


def _describe(kind: Provides) -> str:
    return f"{kind.coe} on {kind.os} ({kind.server_type})"
