"""Operations that end before they have a plan."""

from jeroboam.models import OperationKind, OperationState, Parameters, Status
from jeroboam.store import Store
from tests.integration.store.builders import a_transition, an_operation, stored


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
