"""The one way from a checked request to an operation at work on a cluster that exists."""

from dataclasses import dataclass, field

import structlog

from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.models import Cluster, Operation, OperationKind, Parameters, Plan
from jeroboam.models.lifecycle import TRAITS


@dataclass(frozen=True)
class Wish:
    """What a request asks of a cluster, all names resolved.

    Args:
        rollback: Whether a failure is undone; ``None`` is what the kind does by default.
    """

    cluster: Cluster
    kind: OperationKind
    parameters: Parameters = field(default_factory=Parameters)
    rollback: bool | None = None


@dataclass(frozen=True)
class Outcome:
    """The operation that was accepted, or in a dry run the one that would be, and its plan."""

    operation: Operation
    plan: Plan | None = None


def operation_of(wish: Wish, caller: Caller) -> Operation:
    """Return the record of what is asked, as it is before anything has begun."""
    rolls_back = TRAITS[wish.kind].rolls_back
    return Operation(
        kind=wish.kind,
        cluster_id=wish.cluster.uuid,
        cluster_name=wish.cluster.name,
        project_id=wish.cluster.project_id,
        user_id=caller.identity.user_id,
        request_id=caller.request_id,
        parameters=wish.parameters,
        rollback=rolls_back if wish.rollback is None else wish.rollback,
    )


async def accept(
    dependencies: Dependencies, caller: Caller, wish: Wish, *, dry_run: bool
) -> Outcome:
    """Check what is asked, store it and start it; a dry run stops before anything is written.

    Raises:
        OperationInProgressError: Another operation has the cluster.
        ConflictError: The cluster's status forbids it.
        QuotaExceededError: The project has no room for what it adds.
        JeroboamError: The driver or a hook's declaration refuses it.
    """
    operation, files = dependencies.planner.pin(operation_of(wish, caller), wish.cluster.driver)
    # The store asks again under the lock; this spares the driver a cluster at work.
    await dependencies.store.operations.check_ready(wish.kind, wish.cluster)
    plan = await dependencies.planner.plan(operation)
    if dry_run:
        await dependencies.store.quotas.check(operation)
        return Outcome(operation, plan)
    structlog.contextvars.bind_contextvars(operation_id=operation.uuid)
    await dependencies.store.operations.accept(operation, files)
    await dependencies.operations.start(operation)
    return Outcome(operation)


async def remove(
    dependencies: Dependencies, caller: Caller, cluster: Cluster, *, force: bool, dry_run: bool
) -> Outcome:
    """Begin the removal of a cluster, over whatever happens to it.

    A removal that is at work already is the outcome, unless it shall go by force from now on.
    """
    kind = OperationKind.FORCE_DELETE if force else OperationKind.DELETE
    operation = operation_of(Wish(cluster, kind), caller)
    if dry_run:
        return Outcome(operation, await dependencies.planner.plan(operation))
    for other in await dependencies.store.operations.active(cluster.uuid):
        if other.kind is OperationKind.FORCE_DELETE or other.kind is kind:
            return Outcome(other)
    structlog.contextvars.bind_contextvars(operation_id=operation.uuid)
    await dependencies.operations.delete(cluster, operation)
    return Outcome(operation)
