"""Whether a scheduled operation may start on a cluster now, later or not at all."""

from datetime import datetime
from typing import Protocol

from jeroboam.errors import (
    ConflictError,
    InvalidRequestError,
    JeroboamError,
    NotFoundError,
    OperationInProgressError,
    TooManyOperationsError,
)
from jeroboam.models import ClusterSpec, DriverFiles, Operation, OperationKind, Parameters, Plan
from jeroboam.models.lifecycle import TRAITS, refusal
from jeroboam.models.schedule import WhenBusy, operation_uuid
from jeroboam.models.scheduled_wire import AcceptInput, Order
from jeroboam.models.upgrades import check_kind
from jeroboam.store import Scope, Store


class Plans(Protocol):
    """Makes the plan of an operation, or says why it cannot be done."""

    def pin(self, operation: Operation, driver: str) -> tuple[Operation, DriverFiles | None]:
        """Settle to which version of its driver an upgrade moves a cluster."""

    async def plan(self, operation: Operation) -> Plan:
        """Return the plan."""


class LaterError(Exception):
    """The cluster's turn has not come.

    Args:
        opens_at: When its maintenance window opens; ``None`` if it is busy.
    """

    def __init__(self, reason: str, opens_at: datetime | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.opens_at = opens_at


class LeftOutError(Exception):
    """Nothing is done on the cluster in this run."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Acceptor:
    """Accepts operations for schedules.

    Args:
        plans: Asks the driver whether it can do what the schedule wants.
    """

    def __init__(self, store: Store, plans: Plans) -> None:
        self._store = store
        self._plans = plans

    async def accept(self, ask: AcceptInput) -> Operation:
        """Accept the operation on a cluster; one that this run has accepted before is returned.

        Raises:
            LaterError: It may not start now.
            LeftOutError: It may not start in this run.
        """
        uuid = operation_uuid(ask.order.schedule_id, ask.workflow_id, ask.cluster.uuid)
        try:
            return await self._store.operations.get(uuid)
        except NotFoundError:
            pass
        await self._check_schedule(ask.order)
        try:
            spec = await self._store.clusters.spec(ask.cluster.uuid)
        except NotFoundError:
            raise LeftOutError("The cluster does not exist any more.") from None
        if not ask.order.all_projects and spec.cluster.project_id != ask.order.project_id:
            raise LeftOutError("The cluster is another project's.")
        await self._check_window(ask)
        await self._check_cluster(ask, spec)
        return await self._store_operation(ask, spec, uuid)

    async def _store_operation(self, ask: AcceptInput, spec: ClusterSpec, uuid: str) -> Operation:
        try:
            operation, files = self._plans.pin(
                _operation(ask.order, spec, uuid), spec.cluster.driver
            )
            if _is_upgraded(spec, operation):
                raise LeftOutError(f"The cluster has the template {spec.template.name} already.")
            await self._plans.plan(operation)
            await self._store.operations.accept(operation, files)
        except (OperationInProgressError, TooManyOperationsError) as error:
            raise _busy(ask, error) from error
        except JeroboamError as error:
            if error.retryable:
                raise
            raise LeftOutError(error.message) from error
        return operation

    async def _check_schedule(self, order: Order) -> None:
        schedule = await self._store.schedules.stored(order.schedule_id)
        if schedule is None or schedule.deleted_at:
            raise LeftOutError("The schedule was deleted while this run was at work.")
        if schedule.paused and not order.was_paused:
            raise LeftOutError("The schedule was paused while this run was at work.")

    async def _check_window(self, ask: AcceptInput) -> None:
        window = await self._store.maintenance.get(ask.cluster.uuid)
        if window is None or window.is_open(ask.now):
            return
        outside = f"Outside the cluster's maintenance window ({window.words})"
        opens_at = window.next_opening(ask.now)
        if opens_at is None:
            raise LeftOutError(f"{outside}, which does not open any more.")
        when = f"{opens_at:%Y-%m-%d %H:%M} UTC"
        if opens_at > ask.deadline:
            raise LeftOutError(
                f"{outside}, which opens at {when}. The schedule waits "
                f"{ask.order.wait_minutes} minutes at most."
            )
        raise LaterError(f"{outside}, which opens at {when}.", opens_at)

    async def _check_cluster(self, ask: AcceptInput, spec: ClusterSpec) -> None:
        """Refuse a cluster that is at work or in no state for it, before its driver is asked."""
        for other in await self._store.operations.active(spec.cluster.uuid):
            raise _busy(ask, OperationInProgressError(other.uuid, other.kind, other.current_step))
        reason = refusal(ask.order.kind, spec.cluster.status)
        if reason and spec.cluster.status.in_progress:
            raise _busy(ask, ConflictError(reason))
        if reason:
            raise LeftOutError(reason)
        if ask.order.kind is OperationKind.UPGRADE:
            await self._check_template(spec, ask.order.parameters.cluster_template_id or "")

    async def _check_template(self, spec: ClusterSpec, uuid: str) -> None:
        try:
            template = await self._store.templates.get(uuid, Scope(spec.cluster.project_id))
            check_kind(spec, template)
        except (NotFoundError, InvalidRequestError) as error:
            raise LeftOutError(error.message) from error


def _is_upgraded(spec: ClusterSpec, operation: Operation) -> bool:
    """Whether a cluster has the template that it shall move to, and the driver's newest files."""
    wanted, cluster = operation.parameters, spec.cluster
    return (
        operation.kind is OperationKind.UPGRADE
        and wanted.cluster_template_id == spec.template.uuid
        and wanted.driver_version == cluster.driver_version
        and cluster.driver_files in {None, wanted.driver_files}
    )


def _busy(ask: AcceptInput, error: JeroboamError) -> LaterError | LeftOutError:
    reason = error.message
    if isinstance(error, OperationInProgressError):
        step = f" at step '{error.step}'" if error.step else ""
        reason = f"Busy with operation {error.operation_id} ({error.kind}){step}."
    if ask.order.when_busy is WhenBusy.SKIP:
        return LeftOutError(reason)
    if ask.now >= ask.deadline:
        return LeftOutError(f"{reason} It was waited for, {ask.order.wait_minutes} minutes.")
    return LaterError(reason)


def _operation(order: Order, spec: ClusterSpec, uuid: str) -> Operation:
    return Operation(
        uuid=uuid,
        kind=order.kind,
        cluster_id=spec.cluster.uuid,
        cluster_name=spec.cluster.name,
        project_id=spec.cluster.project_id,
        user_id=order.user_id,
        request_id=f"req-{uuid}",
        parameters=_resolved(order.parameters, spec),
        rollback=TRAITS[order.kind].rolls_back,
        schedule_id=order.schedule_id,
    )


def _resolved(parameters: Parameters, spec: ClusterSpec) -> Parameters:
    """Return parameters with uuids: a schedule for many clusters names groups by name."""
    group = parameters.node_group
    return parameters.model_copy(
        update={
            "node_group": spec.group(group).uuid if group else None,
            "node_groups": tuple(spec.group(ident).uuid for ident in parameters.node_groups),
        }
    )
