"""Accepts operations that were asked for by way of Temporal, by the API's rules."""

from typing import Protocol, assert_never

import structlog
from temporalio import activity

from jeroboam.activities.scheduled_acceptance import Plans
from jeroboam.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
)
from jeroboam.models import (
    Cluster,
    ClusterSpec,
    Operation,
    OperationKind,
    OperationState,
    Parameters,
)
from jeroboam.models.lifecycle import TRAITS
from jeroboam.models.requested_wire import (
    AcceptRequestInput,
    RequestedOperation,
    Wanted,
    WantedCheck,
    WantedDelete,
    WantedReboot,
    WantedRebuild,
    WantedResize,
    WantedUpgrade,
    kind_of,
)
from jeroboam.models.sizes import check_bounds, named_nodes, node_work
from jeroboam.models.upgrades import check_kind, check_single_group
from jeroboam.models.wire import workflow_id
from jeroboam.store import Scope, Store

log = structlog.get_logger(__name__)


class Starts(Protocol):
    """Starts the runs of operations."""

    async def start(self, operation: Operation) -> None:
        """Start the run of an operation whose row exists, or leave that to the reconciler."""

    async def delete(self, cluster: Cluster, operation: Operation) -> None:
        """Add the row of a delete and start it, over whatever runs on the cluster."""


class RequestActivities:
    """What stands between somebody with access to the namespace and a cluster.

    Nothing here asks who it is: Temporal has let them in. All else is as the API does it: what
    cannot be done is refused before anything is written, and quotas, the cluster's lock and its
    state decide in the same transaction as ever.

    Args:
        store: Where clusters and operations are.
        plans: Asks the driver whether it can do what is wanted.
        starts: Starts what was accepted.
    """

    def __init__(self, store: Store, plans: Plans, starts: Starts) -> None:
        self._store = store
        self._plans = plans
        self._starts = starts

    @activity.defn
    async def accept_request(self, ask: AcceptRequestInput) -> RequestedOperation:
        """Accept the operation, unless an earlier attempt has, and start it.

        Raises:
            JeroboamError: It cannot be done, or not now; nothing was changed.
        """
        try:
            operation = await self._store.operations.get(ask.operation_id)
        except NotFoundError:
            operation = await self._accept(ask)
        else:
            await self._go_on(operation)
        log.info("operation_requested", operation_id=operation.uuid, kind=operation.kind)
        return RequestedOperation(
            operation_id=operation.uuid,
            cluster_id=operation.cluster_id,
            workflow_id=workflow_id(operation.cluster_id),
        )

    async def _go_on(self, operation: Operation) -> None:
        """Do the rest for an operation that an attempt has stored which then died."""
        if operation.state is OperationState.REJECTED:
            raise ConflictError(operation.reason or "The operation was rejected.")
        if operation.state is OperationState.PENDING:
            await self._starts.start(operation)

    async def _accept(self, ask: AcceptRequestInput) -> Operation:
        spec = await self._store.clusters.spec(ask.request.cluster_id)
        kind = kind_of(ask.request)
        if kind is OperationKind.DELETE:
            return await self._remove(ask, spec)
        # It spares the driver a cluster that is at work.
        await self._store.operations.check_ready(kind, spec.cluster)
        parameters = await self._parameters(ask.request, spec)
        wish = _operation(ask, kind, spec, parameters)
        operation, files = self._plans.pin(wish, spec.cluster.driver)
        await self._plans.plan(operation)
        await self._store.operations.accept(operation, files)
        await self._starts.start(operation)
        return operation

    async def _remove(self, ask: AcceptRequestInput, spec: ClusterSpec) -> Operation:
        for other in await self._store.operations.active(spec.cluster.uuid):
            if other.kind.deletes:
                return other
        operation = _operation(ask, OperationKind.DELETE, spec, Parameters())
        await self._starts.delete(spec.cluster, operation)
        return operation

    async def _parameters(self, request: Wanted, spec: ClusterSpec) -> Parameters:
        match request:
            case WantedResize():
                return _resize(request, spec)
            case WantedUpgrade():
                return await self._upgrade(request, spec)
            case WantedRebuild() | WantedReboot():
                return node_work(spec, request)
            case WantedCheck() | WantedDelete():
                return Parameters()
            case _:
                assert_never(request)

    async def _upgrade(self, request: WantedUpgrade, spec: ClusterSpec) -> Parameters:
        scope = Scope(spec.cluster.project_id)
        template = await self._store.templates.get(request.cluster_template, scope)
        if template.hidden:
            raise InvalidRequestError(
                f"The template {template.name} is hidden: only the HTTP API lets an administrator "
                "use it."
            )
        group = spec.group(request.nodegroup) if request.nodegroup else None
        if group:
            check_single_group(spec, group, template)
        check_kind(spec, template)
        return Parameters(
            cluster_template_id=template.uuid,
            node_group=group.uuid if group else None,
            batch_size=request.max_batch_size or 1,
        )


def _resize(request: WantedResize, spec: ClusterSpec) -> Parameters:
    group = spec.group(request.nodegroup) if request.nodegroup else spec.workers[0]
    check_bounds(group, request.node_count)
    return Parameters(
        node_group=group.uuid,
        node_count=request.node_count,
        nodes_to_remove=named_nodes(group, request.nodes_to_remove),
    )


def _operation(
    ask: AcceptRequestInput, kind: OperationKind, spec: ClusterSpec, parameters: Parameters
) -> Operation:
    rollback: bool | None = getattr(ask.request, "rollback", None)
    return Operation(
        uuid=ask.operation_id,
        kind=kind,
        cluster_id=spec.cluster.uuid,
        cluster_name=spec.cluster.name,
        project_id=spec.cluster.project_id,
        # Nobody of Keystone asked; what is done is done as the cluster's owner.
        user_id=spec.cluster.user_id,
        request_id=f"req-{ask.operation_id}",
        parameters=parameters,
        rollback=TRAITS[kind].rolls_back if rollback is None else rollback,
    )
