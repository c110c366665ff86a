"""Which nodes shall be there follows from the record alone."""

from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.servers import wishes
from jeroboam.models import ClusterSpec, Node, NodeGroup
from tests.unit.drivers.heat.clusters import make_spec

SPEC: ClusterSpec = make_spec(workers=0)


def recorded(indexes: set[int], count: int) -> NodeGroup:
    group = make_spec(workers=1).workers[0].model_copy(update={"node_count": count})
    prefix = wishes.prefix_of(SPEC.cluster, group)
    nodes = tuple(Node(name=f"{prefix}{i}", id=str(i), status="ACTIVE") for i in sorted(indexes))
    return group.model_copy(update={"nodes": nodes})


def indexes(group: NodeGroup, leaving: tuple[Node, ...] = ()) -> list[int]:
    return [wish.index for wish in wishes.of_group(SPEC, group, leaving)]


def test_a_new_cluster_has_all_its_nodes() -> None:
    found = [wish.name for wish in wishes.of_cluster(make_spec(workers=2, name="demo"))]
    assert [name.split("-", 2)[2] for name in found] == ["master-0", "worker-0", "worker-1"] or all(
        name.startswith("demo-") for name in found
    )
    assert len(set(found)) == 3


def test_new_nodes_get_numbers_above_all_others() -> None:
    assert indexes(recorded({0, 3}, 4)) == [0, 3, 4, 5]


def test_nodes_go_from_the_end() -> None:
    assert indexes(recorded({0, 3, 7}, 2)) == [0, 3]


def test_named_nodes_go_and_their_numbers_with_them() -> None:
    group = recorded({0, 1, 2}, 3)
    assert indexes(group, group.nodes[1:2]) == [0, 2, 3]


@given(st.sets(st.integers(0, 30)), st.integers(0, 40), st.data())
def test_size_is_met_and_named_nodes_are_gone(
    known: set[int], count: int, data: st.DataObject
) -> None:
    """Whatever is recorded, the group gets its size, without named nodes and doubles."""
    group = recorded(known, count)
    leaving = tuple(data.draw(st.sets(st.sampled_from(group.nodes)))) if group.nodes else ()
    found = indexes(group, leaving)
    assert len(found) == len(set(found)) == count
    assert not {f"{i}" for i in found} & {node.id for node in leaving}
    assert indexes(group, leaving) == found


def test_surplus_is_of_the_group_alone() -> None:
    """Nodes of other groups, and what only looks like a node, are left alone."""
    there = {"c-worker-0", "c-worker-1", "c-worker-1-data", "c-master-0", "c-worker-x-0"}
    assert wishes.surplus(there, [], ["c-worker-"]) == ["c-worker-0", "c-worker-1"]
