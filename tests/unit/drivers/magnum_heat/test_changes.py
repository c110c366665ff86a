"""What is asked of Heat for an imported cluster."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.heat.phases import StackState
from jeroboam.drivers.importing import ImportWish
from jeroboam.drivers.magnum_heat_v1.changes import place, removals
from jeroboam.drivers.magnum_heat_v1.driver import MagnumHeatDriver
from jeroboam.drivers.magnum_heat_v1.recognition import recognise
from jeroboam.drivers.magnum_heat_v1.records import Member, StackRecord
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec, Identity, Node, NodeGroup
from tests.unit.drivers.magnum_heat.shown import MAIN, UUID, stack


def spec() -> ClusterSpec:
    owner = Identity(user_id="u1", project_id="p1")
    return recognise(StackRecord.of(stack()), (), ImportWish(stack="x"), owner)


def member(index: int) -> Member:
    return Member("kube_minions", str(index), f"server-{index}")


def heat_keeps(skipped: set[str], count: int) -> set[str]:
    """Return the indexes that a resource group has: the first ones that are not skipped."""
    names = (str(number) for number in range(1000) if str(number) not in skipped)
    return {next(names) for _ in range(count)}


@given(st.sets(st.integers(0, 30), min_size=1, max_size=12), st.data(), st.integers(0, 4))
def test_only_the_named_nodes_go(indexes: set[int], data: st.DataObject, more: int) -> None:
    """Whatever Heat remembers of earlier removals, nodes that were not named stay or are new."""
    leaving = data.draw(st.sets(st.sampled_from(sorted(indexes))))
    nodes = [Node(name=f"node-{index}", id=f"server-{index}") for index in sorted(leaving)]
    skipped = set(removals([member(index) for index in sorted(indexes)], nodes))
    count = len(indexes) - len(leaving) + more
    kept = heat_keeps(skipped, count)
    staying = {str(index) for index in indexes - leaving}
    assert staying <= kept
    assert not kept & {str(index) for index in leaving}


def test_tags_of_others_stay() -> None:
    """A change adds Jeroboam's tags to those that the stack had, and replaces its own."""
    cluster = spec()
    found = StackState(
        id=MAIN, name="old", status="CREATE_COMPLETE", tags=("billing", "jeroboam", f"{UUID}:a:b")
    )
    tags = place(cluster, cluster.workers[0], found).tags(f"{UUID}:c:d").split(",")
    assert tags == ["jeroboam", UUID, f"{UUID}:c:d", "billing"]


def test_no_cluster_and_no_node_group_is_made() -> None:
    """Both are refused with what to do; a group that is there may get other bounds."""
    driver, cluster = MagnumHeatDriver(), spec()
    with pytest.raises(InvalidRequestError, match="jeroboam cluster import"):
        driver.validate(cluster)
    new = NodeGroup(name="more", cluster_id=UUID, project_id="p1")
    with pytest.raises(InvalidRequestError, match="no further node groups"):
        driver.check_node_group(cluster, new)
    driver.check_node_group(cluster, cluster.workers[0])
