"""Which nodes are missed least."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.kubernetes import scale
from jeroboam.drivers.kubernetes.scale import Standing, guards, moves, standing
from jeroboam.drivers.kubernetes.selectors import selects
from jeroboam.drivers.nodes.drains import chosen
from jeroboam.models import Node


def node(name: str = "one", *, ready: bool = True) -> dict[str, Any]:
    """Return a node with four cores and 8 GiB."""
    conditions = [{"type": "Ready", "status": str(ready)}]
    status = {"allocatable": {"cpu": "4", "memory": "8Gi"}, "conditions": conditions}
    return {"metadata": {"name": name}, "status": status}


def pod(where: str = "one", cpu: str = "1", **metadata: Any) -> dict[str, Any]:
    """Return a pod."""
    container = {"resources": {"requests": {"cpu": cpu}}}
    return {
        "metadata": {"namespace": "n", "name": "p", **metadata},
        "spec": {"nodeName": where, "containers": [container]},
        "status": {"phase": "Running"},
    }


class Listing:
    """A cluster's API that has lists only."""

    def __init__(self, **lists: list[dict[str, Any]]) -> None:
        self.lists = lists

    def items(self, path: str) -> list[dict[str, Any]]:
        return self.lists.get(path.rpartition("/")[2], [])


OWNED = {"ownerReferences": [{"kind": "DaemonSet"}]}
MIRROR = {"annotations": {"kubernetes.io/config.mirror": "x"}}
BUDGET = {
    "metadata": {"namespace": "n"},
    "spec": {"selector": {"matchLabels": {"app": "a"}}},
    "status": {"disruptionsAllowed": 0},
}


def test_the_order_of_going() -> None:
    """Broken, then empty, then lightly loaded, then heavily; what is guarded goes last."""
    nodes = [node(name) for name in ("guarded", "full", "light", "empty")]
    nodes.append(node("broken", ready=False))
    pods = [
        pod("guarded", cpu="100m", labels={"app": "a"}),
        pod("full", cpu="3"),
        pod("light"),
        pod("broken", cpu="4"),
        pod("empty", cpu="4", **OWNED),
    ]
    api: Any = Listing(nodes=nodes, pods=pods, poddisruptionbudgets=[BUDGET])
    names = ["guarded", "full", "light", "empty", "broken"]
    candidates = [Node(name=name, id=name) for name in names]
    expected = ["broken", "empty", "light", "full", "guarded"]
    for count in range(6):
        gone = [one.name for one in chosen(scale, api, candidates, count, ())]
        assert gone == expected[:count]
    named = [candidates[0]]
    assert [one.name for one in chosen(scale, api, candidates, 2, named)] == ["guarded", "broken"]


@given(st.integers(1, 8), st.data())
def test_exactly_so_many_go_and_the_named_among_them(size: int, data: st.DataObject) -> None:
    """Whatever runs where."""
    names = [f"n{number}" for number in range(size)]
    candidates = [Node(name=name, id=name) for name in names]
    count = data.draw(st.integers(0, size))
    named = data.draw(st.permutations(candidates))[: data.draw(st.integers(0, count))]
    pods = [pod(where) for where in data.draw(st.lists(st.sampled_from(names)))]
    api: Any = Listing(nodes=[node(name) for name in names], pods=pods)
    gone = [one.name for one in chosen(scale, api, candidates, count, named)]
    assert len(gone) == len(set(gone)) == count
    assert {one.name for one in named} <= set(gone)


def test_of_equals_the_youngest_goes() -> None:
    """It has the highest number."""
    names = ["a-0", "a-1", "a-2"]
    api: Any = Listing(nodes=[node(name) for name in names])
    (gone,) = chosen(scale, api, [Node(name=name, id=name) for name in names], 1, ())
    assert gone.name == "a-2"


@pytest.mark.parametrize(
    ("metadata", "phase", "expected"),
    [
        ({}, "Running", True),
        ({}, "Pending", True),
        ({}, "Succeeded", False),
        ({}, "Failed", False),
        (OWNED, "Running", False),
        (MIRROR, "Running", False),
        ({"ownerReferences": [{"kind": "ReplicaSet"}]}, "Running", True),
    ],
    ids=["bare", "pending", "succeeded", "failed", "daemon", "mirror", "replica"],
)
def test_which_pods_have_to_move(metadata: dict[str, Any], phase: str, *, expected: bool) -> None:
    """Those of daemon sets and of the kubelet belong to their node."""
    assert moves({**pod(**metadata), "status": {"phase": phase}}) is expected


def test_a_node_that_the_cluster_does_not_have_is_missed_by_nobody() -> None:
    """It goes before all that work."""
    absent = standing(None, ())
    assert absent == Standing(guarded=False, works=False, pods=0, load=Decimal(0))
    assert absent.order < standing(node(), ()).order


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"app": "a"}}, True),
        ({"matchLabels": {"app": "b"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]}, False),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
        ({"matchExpressions": [{"key": "app", "operator": "Unheard"}]}, True),
    ],
    ids=str,
)
def test_selectors(selector: Any, *, expected: bool) -> None:
    """As Kubernetes reads them; what is not known is taken to be careful."""
    assert selects(selector, {"app": "a"}) is expected


def test_a_budget_guards_its_own_namespace() -> None:
    """The same labels elsewhere are others."""
    assert guards(BUDGET, pod(labels={"app": "a"}))
    assert not guards(BUDGET, pod(labels={"app": "a"}, namespace="m"))
