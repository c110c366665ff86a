"""Lets an activity work only for the run that has a say in its operation.

A run that was reset or started again by hand, or whose operation was ended by somebody else, must
not touch the cluster any more: what it wants is no longer wanted.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import structlog
from temporalio import activity

from jeroboam.activities.dependencies import Dependencies, driver_context
from jeroboam.drivers.base import ClusterDriver, DriverContext
from jeroboam.errors import DriverContractError, NotFoundError, OperationEndedError
from jeroboam.models import BackendCall, ClusterSpec, Operation
from jeroboam.models.wire import OperationRequest, StepInput, workflow_id
from jeroboam.store import Store

log = structlog.get_logger(__name__)


class Runs(Protocol):
    """What activities ask of Temporal."""

    async def is_current(self, cluster_id: str, run_id: str) -> bool:
        """Return whether a run is the one that is open for its cluster."""


@dataclass(frozen=True)
class Admitted:
    """A step with all that it works on.

    Args:
        spec: The cluster as it is recorded.
        target: The cluster as the operation shall leave it.
        trusts: Of a rotation of the credential: ids of all trusts that the cluster has ever had.
    """

    step: StepInput
    operation: Operation
    spec: ClusterSpec
    target: ClusterSpec
    driver: ClusterDriver
    context: DriverContext
    trusts: frozenset[str] = frozenset()

    def spec_of(self, call: BackendCall | None) -> ClusterSpec:
        """Return the cluster that a call leads to, or removes something of."""
        return _meant(call, self.spec, self.target)


class Admission:
    """Admits steps, or ends them.

    Args:
        dependencies: What activities are made of.
        runs: Temporal.
    """

    def __init__(self, dependencies: Dependencies, runs: Runs) -> None:
        self._dependencies = dependencies
        self._runs = runs

    @property
    def _store(self) -> Store:
        return self._dependencies.store

    async def operation(self, operation_id: str) -> Operation:
        """Return an operation that the running activity may work for.

        Raises:
            OperationEndedError: It has ended, or another run works on it.
        """
        operation = await self._store.operations.get(operation_id)
        if not operation.state.active:
            raise _ended(operation)
        await self._check_run(operation)
        return operation

    async def operation_of_run(self, request: OperationRequest) -> Operation:
        """Return the operation that the running activity's run was started for.

        Raises:
            OperationEndedError: See ``operation``. Or the run is none that the product starts: a
                hand has started it under another id, or for another cluster's operation. It must
                not write the record of that operation either.
        """
        try:
            operation = await self._store.operations.get(request.operation_id)
        except NotFoundError:
            raise OperationEndedError(
                f"There is no operation {request.operation_id}. Start 'RequestOperation' instead."
            ) from None
        mine = (request.cluster_id, request.kind, activity.info().workflow_id)
        if mine != (operation.cluster_id, operation.kind, workflow_id(operation.cluster_id)):
            raise OperationEndedError(
                f"This run is not that of operation {operation.uuid}, and does nothing. Start "
                "'RequestOperation' instead."
            )
        return await self.operation(operation.uuid)

    async def _check_run(self, operation: Operation) -> None:
        run_id = activity.info().workflow_run_id or ""
        if operation.run_id not in {None, run_id} and not await self.is_current(operation):
            raise OperationEndedError("Another run works on the operation; this one does nothing.")

    async def is_current(self, operation: Operation) -> bool:
        """Return whether Temporal says that the running activity's run is the one at work."""
        run_id = activity.info().workflow_run_id or ""
        return await self._runs.is_current(operation.cluster_id, run_id)

    async def admit(self, step: StepInput) -> Admitted:
        """Return a step with all that it works on.

        Raises:
            OperationEndedError: See ``operation``.
            NotFoundError: The cluster does not exist.
            DriverContractError: The driver is not installed on this worker, or the files that the
                cluster was built from are lost.
        """
        found = await self._store.operations.at_work(step.operation_id)
        if found.specs is None:
            raise _ended(found.operation)
        await self._check_run(found.operation)
        spec, target = found.specs
        folder = await self._folder(step, _meant(step.call, spec, target))
        return Admitted(
            step=step,
            operation=found.operation,
            spec=spec,
            target=target,
            driver=self._dependencies.drivers.installed(spec.cluster.driver),
            context=driver_context(self._dependencies, step, spec, folder),
        )

    async def _folder(self, step: StepInput, meant: ClusterSpec) -> Path | None:
        cache = self._dependencies.files
        if cache is None:
            return None
        try:
            return await cache.folder(meant.cluster)
        except DriverContractError as error:
            if not step.kind.deletes:
                raise
            # What is lost must not keep a cluster from being removed.
            log.warning("driver_files_lost", cluster_id=step.cluster_id, reason=error.message)
            return None


def _meant(call: BackendCall | None, spec: ClusterSpec, target: ClusterSpec) -> ClusterSpec:
    recorded = call is not None and (call.restore or call.method.removes)
    return spec if recorded else target


def _ended(operation: Operation) -> OperationEndedError:
    return OperationEndedError(
        f"The operation has ended ({operation.state}); nothing is done for it any more."
    )
