"""Clusters and operations in every state that a command can meet."""

from typing import Any

from jeroboam.models import (
    ClusterOutputs,
    Node,
    Operation,
    OperationState,
    Status,
    StepRecord,
    StepState,
    Transition,
    utc_now,
)
from jeroboam.store import OperationFilter, Page, Scope
from tests.integration.api.conftest import Service


async def creating(service: Service, name: str = "demo", **attributes: Any) -> Operation:
    """Accept the creation of a cluster and return its operation."""
    template = await service.template(name=f"template-of-{name}")
    await service.cluster(template["uuid"], name=name, **attributes)
    return service.operations.started[-1]


async def write(service: Service, operation: Operation, seq: int, **fields: Any) -> None:
    """Write what the run of an operation would write."""
    values = {
        "operation_id": operation.uuid,
        "cluster_id": operation.cluster_id,
        "seq": seq,
        "at": utc_now(),
        "state": OperationState.RUNNING,
        "run_id": "run-1",
    }
    await service.store.operations.apply(Transition.model_validate(values | fields))


async def created(service: Service, name: str = "demo", **attributes: Any) -> Operation:
    """Store a cluster that is complete, with two nodes that have names."""
    operation = await creating(service, name, node_count=2, **attributes)
    spec = await service.store.clusters.spec(operation.cluster_id)
    nodes = {
        group.uuid: tuple(
            Node(name=f"{name}-{group.name}-{place}", id=f"{group.uuid}-{place}")
            for place in range(group.node_count)
        )
        for group in spec.node_groups
    }
    await write(
        service,
        operation,
        2,
        state=OperationState.SUCCEEDED,
        steps=(step("Submit to the backend", StepState.SUCCEEDED),),
        cluster_status=Status.CREATE_COMPLETE,
        node_group_status=Status.CREATE_COMPLETE,
        outputs=ClusterOutputs(nodes=nodes),
    )
    return operation


def step(name: str, state: StepState, **fields: Any) -> StepRecord:
    """Return a step's record."""
    ended = utc_now() if state.done or state is StepState.FAILED else None
    return StepRecord(name=name, state=state, started_at=utc_now(), ended_at=ended, **fields)


async def latest(service: Service, cluster_id: str) -> Operation:
    """Return a cluster's latest operation."""
    wanted = OperationFilter(cluster_id=cluster_id)
    page = Page(limit=1, sort_dir="desc")
    (found,) = await service.store.operations.list(Scope(None), page, wanted)
    return found
