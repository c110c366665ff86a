"""Labels of a cluster and of its template."""

from hypothesis import given
from hypothesis import strategies as st

from jeroboam.api.http import labels

Labels = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["", "1", "2", "True"]))


@given(parent=Labels, own=Labels)
def test_the_difference_accounts_for_every_label(
    parent: dict[str, str], own: dict[str, str]
) -> None:
    """Each label of either side is equal, overridden, added or skipped, and only one of these."""
    found = labels.difference(parent, own)
    equal = {key for key in own if key in parent and parent[key] == own[key]}
    parts = [equal, set(found.overridden), set(found.added), set(found.skipped)]
    assert sum(map(len, parts)) == len(set.union(*parts))
    assert set.union(*parts) == parent.keys() | own.keys()
    assert found.overridden.items() <= parent.items()
    assert found.added.items() <= own.items()
    assert found.skipped.items() <= parent.items()


@given(parent=Labels, own=Labels)
def test_the_parent_can_be_told_from_the_difference(
    parent: dict[str, str], own: dict[str, str]
) -> None:
    """The cluster's labels with the difference give the template's labels back."""
    found = labels.difference(parent, own)
    kept = {key: value for key, value in own.items() if key not in found.added}
    assert {**kept, **found.overridden, **found.skipped} == parent


@given(parent=Labels, own=Labels)
def test_merging_skips_nothing(parent: dict[str, str], own: dict[str, str]) -> None:
    """Merged labels hold all of the template's keys, and the cluster's own values win."""
    merged = labels.inherit(parent, own, merge=True)
    assert labels.difference(parent, merged).skipped == {}
    assert own.items() <= merged.items()


@given(parent=Labels)
def test_no_labels_means_the_template_s(parent: dict[str, str]) -> None:
    """Who names no labels gets those of the template, merging or not."""
    nothing: tuple[dict[str, str] | None, ...] = (None, {})
    for own in nothing:
        for merge in (True, False):
            assert labels.inherit(parent, own, merge=merge) == parent


@given(parent=Labels, own=Labels.filter(bool))
def test_without_merging_one_s_own_replace_all(parent: dict[str, str], own: dict[str, str]) -> None:
    """Unmerged labels are those of the request alone."""
    assert labels.inherit(parent, own, merge=False) == own
