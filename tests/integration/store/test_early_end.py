"""Operations that end before they have a plan, or whose work is undone."""

from jeroboam.models import (
    ClusterOutputs,
    Node,
    OperationKind,
    OperationState,
    Parameters,
    Status,
)
from jeroboam.store import Store
from tests.integration.store.builders import a_group, a_transition, an_operation, stored


async def test_the_groups_that_were_announced_do_not_stay_in_progress(store: Store) -> None:
    """A run that knows no groups yet ends those that were shown to be at work, and no others."""
    spec, create = await stored(store)
    done = {"state": OperationState.SUCCEEDED, "cluster_status": Status.CREATE_COMPLETE}
    await store.operations.apply(a_transition(create, 1, **done))
    masters, workers = spec.node_groups
    resize = an_operation(
        spec.cluster,
        kind=OperationKind.RESIZE,
        parameters=Parameters(node_group=workers.uuid, node_count=5),
    )
    await store.operations.accept(resize)
    over = {"state": OperationState.CANCELLED, "cluster_status": Status.ROLLBACK_COMPLETE}
    await store.operations.apply(a_transition(resize, 1, **over, node_groups=()))
    now = await store.clusters.spec(spec.cluster.uuid)
    assert now.cluster.status is Status.ROLLBACK_COMPLETE
    assert now.group(workers.uuid).status is Status.ROLLBACK_COMPLETE
    assert now.group(masters.uuid).status is Status.CREATE_COMPLETE


async def test_nodes_of_an_undone_creation_are_forgotten(store: Store) -> None:
    """What was read before the roll-back is no longer there for a reboot of all nodes."""
    spec, create = await stored(store)
    done = {"state": OperationState.SUCCEEDED, "cluster_status": Status.CREATE_COMPLETE}
    await store.operations.apply(a_transition(create, 1, **done))
    group = a_group(spec.cluster, name="extra", status=Status.CREATE_IN_PROGRESS)
    addition = an_operation(
        spec.cluster,
        kind=OperationKind.CREATE_NODE_GROUP,
        parameters=Parameters(group=group),
    )
    await store.operations.accept(addition)
    nodes = (Node(name="extra-0", id="1", addresses=("10.0.0.1",)),)
    outputs = ClusterOutputs(nodes={group.uuid: nodes}, node_addresses={group.uuid: ("10.0.0.1",)})
    await store.operations.apply(a_transition(addition, 1, outputs=outputs))
    over = {"state": OperationState.FAILED, "cluster_status": Status.ROLLBACK_COMPLETE}
    await store.operations.apply(
        a_transition(
            addition,
            2,
            **over,
            undone=True,
            node_groups=(group.uuid,),
            node_group_status=Status.CREATE_FAILED,
        )
    )
    left = (await store.clusters.spec(spec.cluster.uuid)).group(group.uuid)
    assert (left.status, left.nodes, left.node_addresses) == (Status.CREATE_FAILED, (), ())
