"""Clusters: written whole or not at all, seen by their project only."""

import pytest
from sqlalchemy import Engine, event

from jeroboam.errors import (
    AmbiguousNameError,
    ConflictError,
    NotFoundError,
)
from jeroboam.models import ClusterSpec, NodeGroup, OperationState, Status, new_uuid
from jeroboam.store import Page, Scope, Store
from tests.integration.store.builders import (
    OTHER,
    PROJECT,
    a_group,
    a_spec,
    a_template,
    an_operation,
    stored,
)

MINE = Scope(PROJECT)
THEIRS = Scope(OTHER)
EVERYONE = Scope(None)


async def test_create_writes_everything(store: Store) -> None:
    """The cluster, its groups and its pending operation appear together, linked."""
    spec, operation = await stored(store)
    cluster = spec.cluster.model_copy(update={"operation_id": operation.uuid})
    assert await store.clusters.get(spec.cluster.uuid, MINE) == cluster
    found = await store.clusters.spec(spec.cluster.uuid)
    assert found.cluster == cluster
    assert found.template == spec.template
    assert [group.model_copy(update={"id": None}) for group in found.node_groups] == list(
        spec.node_groups
    )
    assert list(found.labels) == ["z", "a"]
    assert await store.operations.active(cluster.uuid) == [operation]
    assert operation.state is OperationState.PENDING


async def test_create_is_all_or_nothing(store: Store) -> None:
    """A node group that cannot be stored leaves no cluster behind."""
    template = await store.templates.add(a_template())
    spec = a_spec(template)
    clash = (*spec.node_groups, a_group(spec.cluster, name="default-worker"))
    with pytest.raises(ConflictError):
        await store.clusters.create(
            spec.model_copy(update={"node_groups": clash}),
            an_operation(spec.cluster),
        )
    assert (await store.clusters.count(Scope(PROJECT))).clusters == 0


async def test_hides_other_projects(store: Store) -> None:
    """Another project's cluster does not exist for the caller; an admin sees it."""
    spec, _ = await stored(store)
    for ident in (spec.cluster.uuid, spec.cluster.name):
        with pytest.raises(NotFoundError, match="could not be found"):
            await store.clusters.get(ident, THEIRS)
    assert await store.clusters.list(THEIRS, Page(10)) == []
    assert (await store.clusters.get("cluster", EVERYONE)).uuid == spec.cluster.uuid
    assert len(await store.clusters.list(EVERYONE, Page(10))) == 1


async def test_refuses_ambiguous_names(store: Store) -> None:
    """Two clusters of one name are told apart by uuid only; other projects' do not count."""
    mine, _ = await stored(store)
    await stored(store, project_id=OTHER)
    assert (await store.clusters.get("cluster", MINE)).uuid == mine.cluster.uuid
    with pytest.raises(AmbiguousNameError):
        await store.clusters.get("cluster", EVERYONE)
    await stored(store)
    with pytest.raises(AmbiguousNameError, match="uuid"):
        await store.clusters.get("cluster", MINE)


async def test_spec_of_nothing(store: Store) -> None:
    """The spec of a cluster that is gone is not found."""
    with pytest.raises(NotFoundError):
        await store.clusters.spec(new_uuid())


async def test_finds_node_groups(store: Store) -> None:
    """A node group is found by uuid and by name within its cluster, and nowhere else."""
    spec, _ = await stored(store)
    another, _ = await stored(store, name="another")
    worker = spec.node_groups[1]
    for ident in (worker.uuid, worker.name):
        found = await store.clusters.node_group(spec.cluster.uuid, ident)
        assert found.model_copy(update={"id": None}) == worker
    assert isinstance(found.id, int)
    with pytest.raises(NotFoundError, match="Node group"):
        await store.clusters.node_group(another.cluster.uuid, worker.uuid)


async def test_lists_node_groups_by_role(store: Store) -> None:
    """Node groups are listed in order, paged, and by role if asked."""
    spec, _ = await stored(store)
    uuid = spec.cluster.uuid
    groups = await store.clusters.list_node_groups(uuid, Page(10))
    assert _names(groups) == ["default-master", "default-worker"]
    first = await store.clusters.list_node_groups(uuid, Page(1))
    rest = await store.clusters.list_node_groups(uuid, Page(5, marker=first[0].uuid))
    assert _names([*first, *rest]) == _names(groups)
    workers = await store.clusters.list_node_groups(uuid, Page(10), role="worker")
    assert _names(workers) == ["default-worker"]


async def test_keeps_structured_fields(store: Store) -> None:
    """Taints, labels and addresses of a node group survive the way through the database."""
    template = await store.templates.add(a_template())
    spec = a_spec(template)
    taint = {"key": "a", "effect": "NoSchedule", "value": "b"}
    group = a_group(
        spec.cluster, node_taints=(taint,), node_labels={"k": "v"}, node_addresses=("10.0.0.1",)
    )
    spec = ClusterSpec(cluster=spec.cluster, template=template, node_groups=(group,))
    await store.clusters.create(spec, an_operation(spec.cluster))
    found = await store.clusters.node_group(spec.cluster.uuid, group.uuid)
    assert found.model_copy(update={"id": None}) == group
    assert found.status is None
    assert (await store.clusters.get("cluster", MINE)).status is Status.CREATE_IN_PROGRESS


async def test_lists_cost_the_same_at_any_size(store: Store) -> None:
    """A page of clusters with its node groups takes the same few statements, however long."""
    statements: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    template = await store.templates.add(a_template())
    counts = []
    for _ in range(2):
        for _ in range(3):
            spec = a_spec(template)
            await store.clusters.create(spec, an_operation(spec.cluster))
        statements.clear()
        clusters = await store.clusters.list(MINE, Page(100))
        groups = await store.clusters.node_groups([cluster.uuid for cluster in clusters])
        assert all(len(groups[cluster.uuid]) == 2 for cluster in clusters)
        counts.append(sum("SELECT" in statement for statement in statements))
    event.remove(Engine, "before_cursor_execute", note)
    assert counts == [2, 2]


async def test_groups_of_no_clusters(store: Store) -> None:
    """An empty page has no node groups, and an unknown cluster has none."""
    unknown = new_uuid()
    assert await store.clusters.node_groups([]) == {}
    assert await store.clusters.node_groups([unknown]) == {unknown: ()}


def _names(groups: list[NodeGroup]) -> list[str]:
    return [group.name for group in groups]
