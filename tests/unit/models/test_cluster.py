"""Look-ups in a cluster's specification."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.errors import NotFoundError
from jeroboam.models import ClusterSpec, Status
from jeroboam.models.cluster import MASTER
from tests.unit.models.clusters import specs
from tests.unit.specs import make_spec


@given(specs())
def test_a_group_is_found_by_uuid_and_by_name(spec: ClusterSpec) -> None:
    """Every group answers to both of its names."""
    for group in spec.node_groups:
        assert spec.group(group.uuid) == group
        assert spec.group(group.name) == group


def test_a_group_that_is_not_there_is_named() -> None:
    """An unknown group is an error with its name."""
    with pytest.raises(NotFoundError, match="Node group gpu could not be found"):
        make_spec().group("gpu")


def test_a_uuid_wins_over_a_name() -> None:
    """A group cannot hide another one by taking its uuid for a name."""
    spec = make_spec()
    masters, workers = spec.node_groups
    impostor = masters.model_copy(update={"name": workers.uuid})
    spec = spec.model_copy(update={"node_groups": (impostor, workers)})
    assert spec.group(workers.uuid) == workers


@given(specs(), st.randoms())
def test_nodes_come_in_the_order_that_was_asked(spec: ClusterSpec, random: Random) -> None:
    """Nodes are found by name in all groups, in the order of the names."""
    known = [node for group in spec.node_groups for node in group.nodes]
    random.shuffle(known)
    assert spec.nodes([node.name for node in known]) == tuple(known)
    assert spec.nodes([]) == ()


@given(specs(), st.text(min_size=1))
def test_a_node_that_is_not_there_is_named_with_those_that_are(
    spec: ClusterSpec, name: str
) -> None:
    """The error tells which nodes are missing, and which ones the cluster has."""
    known = [node.name for group in spec.node_groups for node in group.nodes]
    missing = f"no {name}"
    with pytest.raises(NotFoundError) as refused:
        spec.nodes([*known, missing])
    assert refused.value.message.startswith(f"No such node: {missing}.")
    assert all(one in refused.value.message for one in known)


def test_a_cluster_without_known_nodes_says_so() -> None:
    """A driver that names no nodes gives none to choose from."""
    with pytest.raises(NotFoundError, match="none known"):
        make_spec().nodes(["w0"])


@given(specs())
def test_workers_are_all_but_the_masters_and_the_default_group_is_first(spec: ClusterSpec) -> None:
    """Each group is either the control plane or among the workers."""
    assert spec.masters.role == MASTER
    assert {group.uuid for group in spec.workers} == {
        group.uuid for group in spec.node_groups if group != spec.masters
    }
    assert spec.workers[0].is_default


@pytest.mark.parametrize("status", [None, *Status])
def test_a_group_is_built_unless_its_creation_is_open_or_failed(status: Status | None) -> None:
    """Only a group whose creation has ended well counts as there."""
    group = make_spec().masters.model_copy(update={"status": status})
    unbuilt = {Status.CREATE_IN_PROGRESS, Status.CREATE_FAILED}
    assert group.built is (status not in unbuilt)
