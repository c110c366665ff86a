"""Drivers on the wire."""

from collections.abc import Mapping, Sequence
from typing import Literal

from jeroboam.api.http.links import Links
from jeroboam.api.http.schemas.base import Link, ResponseModel
from jeroboam.drivers.sources import BrokenDriver, DriverEntry, abilities
from jeroboam.models import Cluster, DriverFiles


class ProvidesBody(ResponseModel):
    """One kind of cluster that a driver builds."""

    server_type: str
    os: str
    coe: str


class DriverBody(ResponseModel):
    """One driver.

    ``reason`` says why a driver is disabled or broken, or what it needs to be ``not_installed`` no
    more. ``source`` is a package with its version, or
    a folder; it is null for callers who may not see it.
    """

    name: str
    version: str | None
    state: Literal["enabled", "disabled", "broken", "not_installed"]
    reason: str | None
    source: str | None
    provides: Sequence[ProvidesBody]
    abilities: Sequence[str]
    files: str | None
    links: list[Link]

    @classmethod
    def of(cls, entry: DriverEntry, links: Links, *, with_source: bool) -> "DriverBody":
        """Return the body of a driver that can be used.

        Args:
            with_source: Whether the caller may see where it comes from.
        """
        driver, files = entry.driver, entry.files
        return cls(
            name=driver.name,
            version=driver.version,
            state="enabled" if entry.enabled else "disabled",
            reason=entry.disabled_reason,
            source=str(entry.source) if with_source else None,
            provides=[
                ProvidesBody(server_type=one.server_type, os=one.os, coe=one.coe)
                for one in driver.provides
            ],
            abilities=abilities(driver),
            files=files and files.digest,
            links=links.resource("drivers", driver.name),
        )

    @classmethod
    def of_broken(cls, broken: BrokenDriver, links: Links) -> "DriverBody":
        """Return the body of a driver that cannot be used, for administrators."""
        return cls(
            name=broken.name,
            version=None,
            state="not_installed" if broken.not_installed else "broken",
            reason=broken.reason,
            source=str(broken.source),
            provides=[],
            abilities=[],
            files=None,
            links=links.resource("drivers", broken.name),
        )


class DriverList(ResponseModel):
    """All drivers."""

    drivers: Sequence[DriverBody]


class ClusterDriverBody(ResponseModel):
    """The driver of a cluster, and what the cluster is built from.

    ``installed_version`` is null if the driver is not there any more; ``upgrade_available`` says
    whether an upgrade would move the cluster to other files. ``files`` has sizes in bytes by path.
    """

    driver: str
    driver_version: str
    driver_files: str | None
    installed_version: str | None
    upgrade_available: bool
    files: Mapping[str, int]

    @classmethod
    def of(
        cls, cluster: Cluster, kept: DriverFiles | None, installed: DriverEntry | None
    ) -> "ClusterDriverBody":
        """Return the body of a cluster's driver.

        Args:
            kept: What is kept with the cluster.
            installed: The driver as it is installed.
        """
        newest = installed.files if installed else None
        mine = (cluster.driver_version, cluster.driver_files)
        return cls(
            driver=cluster.driver,
            driver_version=cluster.driver_version,
            driver_files=cluster.driver_files,
            installed_version=installed.driver.version if installed else None,
            upgrade_available=installed is not None
            and (installed.driver.version, newest and newest.digest) != mine,
            files={
                path: len(text.encode()) for path, text in (kept.contents if kept else {}).items()
            },
        )
