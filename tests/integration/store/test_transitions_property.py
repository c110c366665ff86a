"""Transitions in any order, any number of times, also at the same time."""

import asyncio
from datetime import UTC, datetime, timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jeroboam.models import (
    Cluster,
    ClusterOutputs,
    Operation,
    OperationKind,
    OperationState,
    Recorded,
    Status,
    StepRecord,
    Transition,
)
from jeroboam.store import Scope, Store
from tests.integration.store.builders import a_transition, an_operation, stored

EVERYONE = Scope(None)
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
SEQUENCES = st.lists(st.integers(1, 6), min_size=1, max_size=10)
ACTIVE = [OperationState.RUNNING, OperationState.COMPENSATING]

# Each example makes rows of its own, so the database may be shared by all examples.
property_test = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def _numbered(operation: Operation, seq: int, status: Status) -> Transition:
    """Return a transition whose whole content follows from its number."""
    return a_transition(
        operation,
        seq,
        at=EPOCH + timedelta(seconds=seq),
        state=ACTIVE[seq % 2],
        reason=f"{operation.kind} {seq}",
        steps=(StepRecord(name="step", result=str(seq)),),
        cluster_status=status,
        status_reason=f"{operation.kind} {seq}",
        stack_id=f"{operation.kind} {seq}",
        outputs=ClusterOutputs(api_address=f"{operation.kind} {seq}"),
    )


async def _cluster(store: Store, operation: Operation) -> Cluster:
    return await store.clusters.get(operation.cluster_id, EVERYONE)


def _assert_shows(cluster: Cluster, operation: Operation, seq: int) -> None:
    expected = f"{operation.kind} {seq}"
    assert cluster.operation_id == operation.uuid
    assert cluster.updated_at == EPOCH + timedelta(seconds=seq)
    assert {cluster.status_reason, cluster.stack_id, cluster.api_address} == {expected}


@property_test
@given(order=SEQUENCES)
async def test_highest_transition_wins(store: Store, order: list[int]) -> None:
    """Whatever the order and repetition, the rows end with the content of the highest seq."""
    _, operation = await stored(store)
    highest = 0
    for seq in order:
        written = await store.operations.apply(_numbered(operation, seq, Status.CREATE_IN_PROGRESS))
        assert (written is Recorded.WRITTEN) is (seq > highest)
        highest = max(highest, seq)
        found = await store.operations.get(operation.uuid)
        assert (found.seq, found.reason) == (highest, f"create {highest}")
        assert found.steps == (StepRecord(name="step", result=str(highest), seq=highest),)
        _assert_shows(await _cluster(store, operation), operation, highest)


@property_test
@given(order=SEQUENCES)
async def test_highest_transition_wins_at_the_same_time(store: Store, order: list[int]) -> None:
    """Transitions that arrive at once on several connections end alike."""
    _, operation = await stored(store)
    transitions = [_numbered(operation, seq, Status.CREATE_IN_PROGRESS) for seq in order]
    written = await asyncio.gather(*map(store.operations.apply, transitions))
    assert Recorded.WRITTEN in written
    assert (await store.operations.get(operation.uuid)).seq == max(order)
    _assert_shows(await _cluster(store, operation), operation, max(order))


@property_test
@given(order=st.lists(st.tuples(st.booleans(), st.integers(1, 4)), min_size=1, max_size=12))
async def test_older_operation_never_overwrites_newer(
    store: Store, order: list[tuple[bool, int]]
) -> None:
    """Once the newer operation has written the cluster, nothing of the older one reaches it."""
    spec, older = await stored(store)
    newer = an_operation(spec.cluster, kind=OperationKind.DELETE)
    await store.operations.add(newer)
    seen = {older.uuid: 0, newer.uuid: 0}
    for is_newer, seq in order:
        operation = newer if is_newer else older
        await store.operations.apply(_numbered(operation, seq, Status.UPDATE_IN_PROGRESS))
        seen[operation.uuid] = max(seen[operation.uuid], seq)
        holder = newer if seen[newer.uuid] else older
        _assert_shows(await _cluster(store, older), holder, seen[holder.uuid])
    for operation in (older, newer):
        assert (await store.operations.get(operation.uuid)).seq == seen[operation.uuid]


@property_test
@given(order=st.permutations([1, 2, 3, 4]))
async def test_removal_is_final(store: Store, order: list[int]) -> None:
    """When the last transition removes the cluster, no late one brings anything back."""
    spec, create = await stored(store)
    remove = an_operation(spec.cluster, kind=OperationKind.DELETE)
    await store.operations.add(remove)
    for seq in order:
        transition = _numbered(remove, seq, Status.DELETE_IN_PROGRESS)
        if seq == max(order):
            transition = transition.model_copy(
                update={"remove_cluster": True, "state": OperationState.SUCCEEDED}
            )
        await store.operations.apply(transition)
    await store.operations.apply(_numbered(create, 7, Status.CREATE_COMPLETE))
    assert await store.clusters.node_groups([spec.cluster.uuid]) == {spec.cluster.uuid: ()}
    assert (await store.operations.get(remove.uuid)).state is OperationState.SUCCEEDED
