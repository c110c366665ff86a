"""Stack names and tags are deterministic and fit Heat's rules."""

import re

from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.heat.stacks import stack_name, stack_tags
from jeroboam.drivers.heat.tags import TAG, key_tag
from tests.unit.drivers.heat.clusters import make_spec

HEAT_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_.-]{0,254}")


@given(st.text(min_size=1, max_size=242))
def test_name_fits_heat(name: str) -> None:
    """Any cluster name gives a stack name that Heat takes, the same each time."""
    cluster = make_spec(name=name).cluster
    assert HEAT_NAME.fullmatch(stack_name(cluster))
    assert stack_name(cluster) == stack_name(cluster.model_copy())


def test_name_as_with_magnum() -> None:
    """The cluster's name is cut to 30 characters and followed by a short id."""
    cluster = make_spec(name="k" * 100, uuid="01234567-89ab-cdef-0123-456789abcdef").cluster
    assert stack_name(cluster) == f"{'k' * 30}-0123456789ab"


def test_names_of_namesakes_differ() -> None:
    """Two clusters of one name have stacks of different names."""
    assert stack_name(make_spec().cluster) != stack_name(make_spec().cluster)


@given(st.text(max_size=300))
def test_tags_fit_heat(key: str) -> None:
    """Tags have no comma and at most 80 characters, whatever the idempotency key."""
    cluster = make_spec().cluster
    tags = stack_tags(cluster, key)
    assert tags[:2] == [TAG, cluster.uuid]
    assert all(len(tag) <= 80 and "," not in tag for tag in tags)


@given(st.text(max_size=300), st.text(max_size=300))
def test_keys_stay_apart(one: str, other: str) -> None:
    """Different keys give different tags."""
    assert (key_tag(one) == key_tag(other)) == (one == other)
