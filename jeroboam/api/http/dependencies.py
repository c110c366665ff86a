"""What the API is made of, and how routes get at it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Protocol

from fastapi import Depends, Request

from jeroboam.api.http.authorization import Authorizer
from jeroboam.api.http.caller import Authenticate, Caller
from jeroboam.api.http.directory import CloudDirectory
from jeroboam.api.http.links import Links
from jeroboam.api.http.selection import Warnings
from jeroboam.api.http.surveying import Surveyor
from jeroboam.api.http.versions import Microversion
from jeroboam.drivers.base import ClusterDriver
from jeroboam.drivers.registry import DriverRegistry
from jeroboam.hooks.kit import HookKit
from jeroboam.models import Cluster, ClusterSpec, DriverFiles, Operation, Plan
from jeroboam.models.coe_wire import CoeRequest
from jeroboam.models.schedule import Doings, Schedule
from jeroboam.models.signing_wire import SigningRequest
from jeroboam.models.wire import HookAnswer
from jeroboam.settings import Settings
from jeroboam.store import Store

Probe = Callable[[], Awaitable[None]]
"""Asks a service whether it answers; raises when it does not."""


class Operations(Protocol):
    """Starts operations; ``OperationClient`` is the real one."""

    async def start(self, operation: Operation) -> None:
        """Start the run of an operation whose row exists."""

    async def delete(self, cluster: Cluster, operation: Operation) -> None:
        """Add the row of a delete and start it, over whatever runs."""

    async def cancel(self, operation: Operation, reason: str, *, now: bool = False) -> str:
        """Cancel an operation at work; return what will happen, in words for the user."""

    async def retry(self, operation: Operation) -> None:
        """Take up an operation that failed or was cancelled, where it stopped."""

    async def answer_hook(self, operation: Operation, answer: HookAnswer) -> None:
        """Hand the answer to a hook that the operation waits for to its run."""


class Planner(Protocol):
    """Makes plans; ``activities.planning.Planner`` is the real one."""

    def pin(self, operation: Operation, driver: str) -> tuple[Operation, DriverFiles | None]:
        """Settle to which version of its driver an upgrade moves a cluster."""

    async def plan(self, operation: Operation, spec: ClusterSpec | None = None) -> Plan:
        """Return what an operation would do, after all checks; writes nothing."""


class Schedules(Protocol):
    """Tells Temporal of schedules; ``ScheduleClient`` is the real one."""

    async def try_sync(self, uuid: str) -> None:
        """Tell Temporal of a schedule's last change, if it answers."""

    async def trigger(self, schedule: Schedule) -> None:
        """Start a run now."""

    async def doings(self, schedule: Schedule) -> Doings:
        """Return what Temporal knows of a schedule."""

    async def next_times(self, schedule: Schedule) -> Sequence[datetime]:
        """Return the next times of a stored schedule."""

    async def preview(self, schedule: Schedule) -> Sequence[datetime]:
        """Return the next times of a schedule that is not stored."""


class CoeCalls(Protocol):
    """Asks the engines that run in clusters; ``CoeClient`` is the real one."""

    async def call(self, request: CoeRequest, queue: str | None = None) -> bytes:
        """Return the answer of a cluster's driver, as JSON."""


class Signer(Protocol):
    """Has the CAs of clusters sign; ``SigningClient`` is the real one."""

    async def sign(self, request: SigningRequest) -> str:
        """Return the certificate, PEM-encoded."""


class Trusts(Protocol):
    """Makes the trusts with which clusters act for their owners."""

    async def create(self, caller: Caller) -> str:
        """Return the id of a new trust from the caller to the service user."""

    async def works(self, trust_id: str) -> bool:
        """Return whether one can log in with a trust now."""

    async def delete(self, trust_id: str) -> None:
        """Remove a trust; none is success."""

    async def prepare_owner(self, caller: Caller, driver: ClusterDriver) -> None:
        """Have a driver do what it needs the caller's own token for, if there is something."""


@dataclass(frozen=True)
class Dependencies:
    """All that the routes use.

    Args:
        directory: Gives the caller's view of the cloud.
        probes: The services that the detailed health check asks, by name.
        hooks: What is installed and allowed; administrators declare more.
        warnings: Tells of deprecated image properties.
        surveyor: Looks at clusters that shall be imported.
        keep_keys: Hands the sealed keys of an imported cluster to the workers.
    """

    settings: Settings
    store: Store
    drivers: DriverRegistry
    operations: Operations
    planner: Planner
    schedules: Schedules
    coe: CoeCalls
    signer: Signer
    authenticate: Authenticate
    authorizer: Authorizer
    directory: Callable[[Caller], CloudDirectory]
    trusts: Trusts
    probes: Mapping[str, Probe]
    hooks: HookKit = field(default_factory=HookKit)
    warnings: Warnings = field(default_factory=Warnings)
    surveyor: Surveyor | None = None
    keep_keys: Callable[[str, str], Awaitable[None]] | None = None


def _dependencies(request: Request) -> Dependencies:
    dependencies: Dependencies = request.app.state.dependencies
    return dependencies


def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


def _version(request: Request) -> Microversion:
    version: Microversion = request.state.version
    return version


Injected = Annotated[Dependencies, Depends(_dependencies)]
CurrentCaller = Annotated[Caller, Depends(_caller)]
CurrentVersion = Annotated[Microversion, Depends(_version)]
CurrentLinks = Annotated[Links, Depends(Links.of)]
