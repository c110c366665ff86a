"""Quotas: what is set, what is used, and that no number of requests at a time exceeds them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jeroboam.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    QuotaExceededError,
    TooManyOperationsError,
)
from jeroboam.models import (
    Cluster,
    ClusterSpec,
    Operation,
    OperationKind,
    OperationState,
    Parameters,
    Status,
    new_uuid,
)
from jeroboam.models.quota import Quota, QuotaResource
from jeroboam.store import Page, Scope, Store
from tests.integration.store.builders import (
    OTHER,
    PROJECT,
    a_group,
    a_spec,
    a_template,
    a_transition,
    an_operation,
)

CLUSTER, NODE, CORE, OPERATION = QuotaResource


async def limited(store: Store, project: str = PROJECT, **limits: int) -> None:
    """Set quotas, by the lower-case name of their resource."""
    for name, limit in limits.items():
        resource = QuotaResource(name.capitalize())
        await store.quotas.add(Quota(project_id=project, resource=resource, hard_limit=limit))


async def built(store: Store, *, workers: int = 1, vcpus: int = 2, project: str = PROJECT) -> str:
    """Return the uuid of a cluster at rest, with one master and some workers."""
    template = await store.templates.add(a_template())
    spec = a_spec(template, project_id=project)
    counts = {"master": 1, "worker": workers}
    groups = tuple(
        group.model_copy(update={"node_count": counts[group.role], "vcpus": vcpus})
        for group in spec.node_groups
    )
    spec = spec.model_copy(update={"node_groups": groups})
    operation = an_operation(spec.cluster)
    await store.clusters.create(spec, operation)
    await ended(store, operation)
    return spec.cluster.uuid


async def ended(
    store: Store, operation: Operation, state: OperationState = OperationState.SUCCEEDED
) -> None:
    """Let an operation end; one that succeeds becomes the record."""
    good = state is OperationState.SUCCEEDED
    status = Status.UPDATE_COMPLETE if good else Status.UPDATE_FAILED
    seq = (await store.operations.get(operation.uuid)).seq + 1
    end = a_transition(operation, seq, state=state, cluster_status=status, commit=good)
    await store.operations.apply(end)


async def a_resize(store: Store, cluster: str, count: int) -> Operation:
    """Return a resize of the default workers that is not stored yet."""
    spec = await store.clusters.spec(cluster)
    parameters = Parameters(node_group=spec.workers[0].uuid, node_count=count)
    return an_operation(spec.cluster, kind=OperationKind.RESIZE, parameters=parameters)


def a_new_group(cluster: Cluster, count: int) -> Operation:
    group = a_group(cluster, name=f"g-{new_uuid()[:8]}", node_count=count, vcpus=4)
    return an_operation(
        cluster, kind=OperationKind.CREATE_NODE_GROUP, parameters=Parameters(group=group)
    )


async def test_what_is_set_can_be_changed_and_removed(store: Store) -> None:
    """A project has one quota per resource; without one there is none to change or remove."""
    added = await store.quotas.add(Quota(project_id=PROJECT, hard_limit=3))
    assert (added.id, added.resource, added.updated_at) == (1, CLUSTER, None)
    with pytest.raises(ConflictError, match="already exists for resource Cluster"):
        await store.quotas.add(Quota(project_id=PROJECT, hard_limit=4))
    await limited(store, node=7)
    changed = await store.quotas.change(PROJECT, CLUSTER, 5)
    assert (changed.id, changed.hard_limit) == (1, 5)
    assert changed.updated_at is not None
    assert await store.quotas.get(PROJECT, CLUSTER) == changed
    assert await store.quotas.limit(PROJECT, NODE) == 7
    await store.quotas.delete(PROJECT, CLUSTER)
    assert await store.quotas.get(PROJECT, CLUSTER) is None
    for gone in (store.quotas.delete(PROJECT, CLUSTER), store.quotas.change(PROJECT, CLUSTER, 1)):
        with pytest.raises(NotFoundError, match="Quota could not be found"):
            await gone


async def test_lists_page_by_number(store: Store) -> None:
    """Rows have no uuid: the number is the marker; of other projects it is unknown."""
    for project in (PROJECT, OTHER):
        await limited(store, project, cluster=1, node=2)
    assert [one.id for one in await store.quotas.list(None, Page(10))] == [1, 2, 3, 4]
    assert [one.id for one in await store.quotas.list(PROJECT, Page(10, marker=1))] == [2]
    with pytest.raises(NotFoundError, match="no such quota"):
        await store.quotas.list(PROJECT, Page(10, marker=3))
    with pytest.raises(InvalidRequestError):
        await store.quotas.list(None, Page(10, sort_key="uuid"))


async def test_a_project_s_own_quota_wins(database_url: str, store: Store) -> None:
    """A row counts instead of the setting, whether it is more or less."""
    second = await Store.open(database_url, quotas={CLUSTER: 1})
    template = await store.templates.add(a_template())

    async def create(project: str) -> None:
        spec = a_spec(template, project_id=project)
        await second.clusters.create(spec, an_operation(spec.cluster))

    await limited(store, OTHER, cluster=2)
    for project in (PROJECT, OTHER, OTHER):
        await create(project)
    for project, limit in ((PROJECT, 1), (OTHER, 2)):
        with pytest.raises(QuotaExceededError, match=f"maximum clusters per project, {limit}"):
            await create(project)
        with pytest.raises(QuotaExceededError, match="You may delete a cluster"):
            await second.quotas.check_clusters(project)
    assert await second.clusters.count(Scope(None)) == await store.clusters.count(Scope(None))
    assert (await store.clusters.count(Scope(OTHER))).clusters == 2
    await second.close()


async def test_cores_are_those_of_the_flavors(store: Store) -> None:
    """A node counts with the CPUs of its flavor; one whose flavor is not known has none."""
    cluster = await built(store, workers=3, vcpus=2)
    used = await store.quotas.used(PROJECT)
    assert used == {CLUSTER: 1, NODE: 4, CORE: 8, OPERATION: 0}
    await limited(store, core=11)
    with pytest.raises(QuotaExceededError, match="11 cores in its clusters; it has 8, and this"):
        await store.operations.accept(await a_resize(store, cluster, 5))
    await store.operations.accept(await a_resize(store, cluster, 4))
    assert (await store.quotas.used(PROJECT))[CORE] == 10


async def test_operations_at_work_count_until_they_end(store: Store) -> None:
    """What a resize asks for is taken from its acceptance on, and free again when it failed."""
    first, second = await built(store), await built(store)
    await limited(store, node=6)
    growing = await a_resize(store, first, 3)
    await store.operations.accept(growing)
    with pytest.raises(QuotaExceededError, match="it has 6, and this needs 1 more"):
        await store.operations.accept(await a_resize(store, second, 2))
    await ended(store, growing, OperationState.FAILED)
    taken = await a_resize(store, second, 3)
    await store.operations.accept(taken)
    await ended(store, taken)
    with pytest.raises(QuotaExceededError):
        await store.operations.reopen(growing.uuid)
    assert (await store.operations.get(growing.uuid)).state is OperationState.FAILED


async def test_nodes_that_go_count_until_they_are_gone(store: Store) -> None:
    """A shrink passes over a full quota, and makes room when it has succeeded."""
    first, second = await built(store, workers=3), await built(store)
    await limited(store, node=1)
    shrink = await a_resize(store, first, 1)
    await store.operations.accept(shrink)
    assert (await store.quotas.used(PROJECT))[NODE] == 6
    await ended(store, shrink)
    assert (await store.quotas.used(PROJECT))[NODE] == 4
    same = await a_resize(store, second, 1)
    await store.operations.accept(same)


async def test_new_groups_count_by_their_rows(store: Store) -> None:
    """A new node group is counted once, from its acceptance on; a rejected one is not."""
    cluster = (await store.clusters.spec(await built(store))).cluster
    await limited(store, node=4)
    operation = a_new_group(cluster, 2)
    await store.operations.accept(operation)
    used = await store.quotas.used(PROJECT)
    assert (used[NODE], used[CORE]) == (4, 12)
    await store.operations.reject(operation.uuid, "lost")
    assert (await store.quotas.used(PROJECT))[NODE] == 2
    with pytest.raises(QuotaExceededError, match="needs 3 more"):
        await store.operations.accept(a_new_group(cluster, 3))


async def test_removals_pass_over_the_number_of_operations(store: Store) -> None:
    """Deletes count as operations, and are never refused for there being too many."""
    first, second = await built(store), await built(store)
    await limited(store, operation=1)
    await store.operations.accept(await a_resize(store, first, 2))
    with pytest.raises(TooManyOperationsError, match="1 operations of your project are at work"):
        await store.operations.accept(await a_resize(store, second, 2))
    cluster = (await store.clusters.spec(second)).cluster
    await store.quotas.check(an_operation(cluster, kind=OperationKind.DELETE))


async def test_a_question_holds_nobody_off(store: Store) -> None:
    """A dry run is told what acceptance would say, and stores nothing."""
    template = await store.templates.add(a_template())
    spec = a_spec(template)
    await limited(store, node=2)
    with pytest.raises(QuotaExceededError, match="2 nodes"):
        await store.quotas.check(an_operation(spec.cluster), spec)
    assert (await store.clusters.count(Scope(PROJECT))).clusters == 0


async def outcomes(attempts: Sequence[Awaitable[None]]) -> int:
    """Return how many passed; the others were refused for their quota and nothing else."""
    results = await asyncio.gather(*attempts, return_exceptions=True)
    refused = [error for error in results if error is not None]
    assert all(isinstance(error, QuotaExceededError) for error in refused), refused
    return results.count(None)


def create(template: str, size: int) -> Callable[[Store], Awaitable[None]]:
    async def work(where: Store) -> None:
        template_row = await where.templates.get(template, Scope(PROJECT))
        spec = sized(a_spec(template_row), size)
        await where.clusters.create(spec, an_operation(spec.cluster))

    return work


def sized(spec: ClusterSpec, workers: int) -> ClusterSpec:
    """Return a cluster with one master and some workers, of two CPUs each."""
    counts = {"master": 1, "worker": workers}
    groups = tuple(
        group.model_copy(update={"node_count": counts[group.role], "vcpus": 2})
        for group in spec.node_groups
    )
    return spec.model_copy(update={"node_groups": groups})


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    sizes=st.lists(st.integers(0, 4), min_size=3, max_size=6),
    resizes=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    limit=st.integers(0, 12),
    resource=st.sampled_from([CLUSTER, NODE, CORE, OPERATION]),
)
async def test_no_number_of_requests_at_a_time_exceeds_a_quota(
    store: Store,
    database_url: str,
    sizes: list[int],
    resizes: list[int],
    limit: int,
    resource: QuotaResource,
) -> None:
    """Creates, resizes and new groups through two sets of connections never exceed the limit.

    And what is refused did not fit: the smallest of it is more than what is left.
    """
    project = f"project-{new_uuid()}"
    second = await Store.open(database_url)
    template = await store.templates.add(a_template())
    clusters = [await built(store, project=project) for _ in resizes]
    before = (await store.quotas.used(project))[resource]
    bound = before + limit
    await store.quotas.add(Quota(project_id=project, resource=resource, hard_limit=bound))
    refused: list[int] = []

    async def try_it(operation: Operation, spec: ClusterSpec | None, where: Store) -> None:
        try:
            if spec is None:
                await where.operations.accept(operation)
            else:
                await where.clusters.create(spec, operation)
        except QuotaExceededError:
            refused.append(_need(operation, spec, resource))

    wishes: list[tuple[Operation, ClusterSpec | None]] = []
    for size in sizes:
        spec = sized(a_spec(template, project_id=project), size)
        wishes.append((an_operation(spec.cluster), spec))
    for number, (cluster, size) in enumerate(zip(clusters, resizes, strict=True)):
        made = await a_resize(store, cluster, size)
        if number % 2:
            made = a_new_group((await store.clusters.spec(cluster)).cluster, size)
        wishes.append((made, None))
    stores = (store, second)
    await asyncio.gather(
        *(try_it(wish, spec, stores[n % 2]) for n, (wish, spec) in enumerate(wishes))
    )
    used = (await store.quotas.used(project))[resource]
    assert used <= bound
    assert all(need > bound - used for need in refused)
    await second.close()


def _need(operation: Operation, spec: ClusterSpec | None, resource: QuotaResource) -> int:
    """Return how much of a resource a wish of the test asks for."""
    if resource is OPERATION:
        return 1
    if spec is not None:
        nodes = sum(group.node_count for group in spec.node_groups)
        return {CLUSTER: 1, NODE: nodes, CORE: 2 * nodes}[resource]
    parameters = operation.parameters
    if parameters.group is not None:
        nodes = parameters.group.node_count
        return {CLUSTER: 0, NODE: nodes, CORE: 4 * nodes}[resource]
    nodes = (parameters.node_count or 0) - 1
    return {CLUSTER: 0, NODE: nodes, CORE: 2 * nodes}[resource]


@pytest.mark.parametrize("limit", [0, 1, 4])
async def test_exactly_the_limit_passes(store: Store, database_url: str, limit: int) -> None:
    """Of many creates at the same time, over two sets of connections, exactly the limit passes."""
    template = await store.templates.add(a_template())
    await limited(store, cluster=limit)
    second = await Store.open(database_url)
    work = create(template.uuid, 1)
    attempts = [work(where) for where in (store, second) for _ in range(8)]
    assert await outcomes(attempts) == limit
    await second.close()
    assert (await store.clusters.count(Scope(PROJECT))).clusters == limit
