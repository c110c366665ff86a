"""Has a driver look at what shall be imported, with the caller's own token."""

import asyncio
from collections.abc import Awaitable, Iterable
from concurrent.futures import Executor
from typing import Protocol

import structlog
from keystoneauth1.session import Session

from jeroboam.api.http.caller import Caller
from jeroboam.cloud import Cloud
from jeroboam.drivers.base import ClusterDriver
from jeroboam.drivers.importing import ImportWish, SupportsImport, Survey
from jeroboam.errors import (
    CloudUnavailableError,
    CredentialRejectedError,
    DriverContractError,
    InvalidRequestError,
    JeroboamError,
    NotAuthorizedError,
)

log = structlog.get_logger(__name__)


class Surveyor(Protocol):
    """Looks at a cloud; ``CloudSurveyor`` is the real one."""

    def survey(self, driver: SupportsImport, caller: Caller, wish: ImportWish) -> Awaitable[Survey]:
        """Return what a driver recognises.

        Raises:
            JeroboamError: Whatever the driver raises.
            CloudUnavailableError: It took too long.
        """


class CallerCloud:
    """A cloud on which everything is done with one caller's token."""

    def __init__(self, cloud: Cloud, caller: Caller) -> None:
        self._cloud = cloud
        self._caller = caller

    @property
    def name(self) -> str:
        """The cloud's name in ``clouds.yaml``."""
        return self._cloud.name

    @property
    def region(self) -> str | None:
        """The region in which endpoints are looked up."""
        return self._cloud.region

    @property
    def interface(self) -> str:
        """The endpoint interface."""
        return self._cloud.interface

    def service_session(self) -> Session:
        """Refuse: nobody gets to see more than the caller may."""
        raise NotAuthorizedError("An import looks at the cloud with your own rights only.")

    def tenant_session(self, trust_id: str | None) -> Session:
        """Return the caller's session; there is no trust yet."""
        _ = trust_id
        return self._cloud.token_session(self._caller.token, self._caller.identity.project_id)


class CloudSurveyor:
    """Runs surveys in threads.

    Args:
        threads: Where the synchronous clients run.
        timeout_seconds: The longest that a survey may take.
    """

    def __init__(self, cloud: Cloud, threads: Executor, timeout_seconds: float) -> None:
        self._cloud = cloud
        self._threads = threads
        self._timeout_seconds = timeout_seconds

    async def survey(self, driver: SupportsImport, caller: Caller, wish: ImportWish) -> Survey:
        """Return what a driver recognises."""
        access = CallerCloud(self._cloud, caller)
        running = asyncio.get_running_loop().run_in_executor(
            self._threads, driver.survey, access, wish, caller.identity
        )
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return await running
        except TimeoutError as error:
            raise CloudUnavailableError(
                "The cloud's services took too long to answer. Try again later."
            ) from error
        except CredentialRejectedError as error:
            raise NotAuthorizedError(
                f"The cloud does not accept your token: {error.message}"
            ) from error
        except JeroboamError:
            raise
        except Exception as error:
            log.exception("survey_defect", stack=wish.stack)
            raise DriverContractError(
                "The driver could not look at the cluster, for a defect. Tell the operator."
            ) from error


def importer(drivers: Iterable[ClusterDriver], name: str | None) -> SupportsImport:
    """Return the driver that takes a cluster over.

    Args:
        drivers: Those that are enabled.
        name: Which one; needed only where there are several.

    Raises:
        InvalidRequestError: None can, or several could.
    """
    able = [one for one in drivers if isinstance(one, SupportsImport)]
    chosen = [one for one in able if name in {None, one.name}]
    if len(chosen) == 1:
        return chosen[0]
    names = ", ".join(one.name for one in able) or "none"
    if chosen:
        raise InvalidRequestError(
            f"Several drivers import clusters: {names}. Name one in 'driver'."
        )
    raise InvalidRequestError(f"No such driver imports clusters. Those that do: {names}.")
