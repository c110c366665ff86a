"""The rules about node groups: sizes, labels and taints."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.api.http import node_group_rules as rules
from jeroboam.errors import ConflictError
from jeroboam.models import NodeGroup

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)
TAINTS = st.fixed_dictionaries(
    {},
    optional={
        "key": st.sampled_from(["gpu", "a.b/c", "", "a b", "/x"]) | JSON,
        "value": st.sampled_from(["", "yes", "a b"]) | JSON,
        "effect": st.sampled_from(rules.TAINT_EFFECTS) | JSON,
        "colour": JSON,
    },
)


def group(**fields: Any) -> NodeGroup:
    return NodeGroup.model_validate({"name": "big", "cluster_id": "c", "project_id": "p"} | fields)


@pytest.mark.parametrize(
    "key",
    [
        *("disk", "a.b_c-d", "example.org/disk", "kubernetes.io/hostname", "kubernetes.io/arch"),
        *("node.kubernetes.io/anything", "kubelet.kubernetes.io/x", "notkubernetes.io/x"),
        *("topology.kubernetes.io/zone", "beta.kubernetes.io/os", "k8s.io.example.org/x"),
    ],
)
def test_labels_that_a_kubelet_may_set(key: str) -> None:
    """Labels outside of Kubernetes' own domains, and those of the allow-list, pass."""
    rules.check(group(node_labels={key: "x"}))


@pytest.mark.parametrize(
    "key",
    [
        *("kubernetes.io/role", "k8s.io/x", "node-role.kubernetes.io/worker", "x.k8s.io/y"),
        *("topology.kubernetes.io/rack", "sub.node.kubernetes.io/x"),
    ],
)
def test_labels_with_which_a_kubelet_does_not_start(key: str) -> None:
    """Other labels of Kubernetes' domains are refused with what is allowed."""
    with pytest.raises(ConflictError, match=r"restricted.*node\.kubernetes\.io"):
        rules.check(group(node_labels={key: "x"}))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("", "x"), ("a b", "x"), ("-a", "x"), ("a" * 64, "x"), ("/a", "x"), ("a/b/c", "x")),
        *(("a", "b c"), ("a", "-"), ("a", "b" * 64), ("a\n", "x"), ("a", "x\n"), ("UP/a", "x")),
    ],
)
def test_words_that_kubernetes_does_not_take(key: str, value: str) -> None:
    """A label that no node could have is refused before the nodes are built."""
    with pytest.raises(ConflictError, match=r"is no label (key|value) of Kubernetes"):
        rules.check(group(node_labels={key: value}))


@given(st.text(max_size=70), st.text(max_size=70))
def test_labels_that_pass_are_words(key: str, value: str) -> None:
    """Nothing gets through that a shell or a YAML file could misread."""
    try:
        rules.check(group(node_labels={key: value}))
    except ConflictError:
        return
    assert re.fullmatch(r"[A-Za-z0-9./_-]+", key)
    assert re.fullmatch(r"[A-Za-z0-9._-]*", value)


@given(count=st.integers(0, 9), lowest=st.integers(0, 9), highest=st.none() | st.integers(0, 9))
def test_sizes_fit_into_each_other(count: int, lowest: int, highest: int | None) -> None:
    """The count lies within the bounds and the bounds fit; a maximum of zero is none."""
    made = group(node_count=count, min_node_count=lowest, max_node_count=highest)
    if lowest <= count and (not highest or count <= highest):
        rules.check(made)
    else:
        with pytest.raises(ConflictError, match="should be less or equal to"):
            rules.check(made)


@pytest.mark.parametrize(
    ("given_", "stored"),
    [
        ([], ()),
        (
            [{"key": "gpu", "effect": "NoSchedule"}],
            ({"key": "gpu", "effect": "NoSchedule"},),
        ),
        (
            [{"effect": "NoExecute", "value": "yes", "key": "a/b"}],
            ({"key": "a/b", "value": "yes", "effect": "NoExecute"},),
        ),
        (
            [{"key": "a", "value": "", "effect": "PreferNoSchedule"}],
            ({"key": "a", "effect": "PreferNoSchedule"},),
        ),
    ],
)
def test_taints_are_stored_in_one_form(given_: list[Any], stored: tuple[Any, ...]) -> None:
    """A value that is empty or null is none."""
    assert rules.taints("big", given_) == stored


@pytest.mark.parametrize(
    ("taint", "message"),
    [
        ("gpu", r"node_taints\[1\] must be an object with key, effect"),
        ({"key": "a", "effect": "NoSchedule", "x": 1}, r"unrecognised field\(s\) x; allowed"),
        ({"effect": "NoSchedule"}, r"node_taints\[1\].key is required"),
        ({"key": "a"}, r"effect must be one of NoSchedule, PreferNoSchedule, NoExecute"),
        ({"key": "a b", "effect": "NoSchedule"}, "'a b' is no taint key"),
        ({"key": 1, "effect": "NoSchedule"}, "'1' is no taint key"),
        ({"key": "a", "value": "b c", "effect": "NoSchedule"}, "'b c' is no taint value"),
        ({"key": "a", "value": 1, "effect": "NoSchedule"}, "'1' is no taint value"),
    ],
)
def test_what_is_no_taint_is_named(taint: Any, message: str) -> None:
    """The refusal says which taint, and what is wrong with it."""
    with pytest.raises(ConflictError, match=f"node_taints for big is invalid .*{message}"):
        rules.taints("big", [{"key": "a", "effect": "NoSchedule"}, taint])


@given(st.lists(TAINTS | JSON, max_size=3))
def test_whatever_is_given_is_a_taint_or_refused(given_: list[Any]) -> None:
    """Odd input is refused as a conflict; what passes is all text."""
    try:
        found = rules.taints("big", given_)
    except ConflictError:
        return
    assert all(isinstance(text, str) for taint in found for text in taint.values())
    assert group(node_taints=found).node_taints == found
