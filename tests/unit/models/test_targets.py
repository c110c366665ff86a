"""The cluster that an operation wants, derived from the cluster as it is recorded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.errors import NotFoundError
from jeroboam.models import ClusterSpec, ClusterTemplate, OperationKind, Parameters, Status
from jeroboam.models.targets import target_of, upgraded_groups, upgraded_labels
from tests.unit.models.clusters import few, labels, new_templates, requests, specs
from tests.unit.specs import make_spec

SAME = [
    OperationKind.CREATE,
    OperationKind.DELETE,
    OperationKind.FORCE_DELETE,
    OperationKind.REBUILD,
    OperationKind.SOFT_REBOOT,
    OperationKind.HARD_REBOOT,
    OperationKind.CHECK_HEALTH,
]
OF_ONE_GROUP = [kind for kind in OperationKind if kind not in {*SAME, OperationKind.UPGRADE}]

Asked = tuple[ClusterSpec, Parameters, ClusterTemplate]


def asked(kind: OperationKind) -> st.SearchStrategy[Asked]:
    return specs().flatmap(
        lambda spec: st.tuples(st.just(spec), requests(spec, kind), new_templates(spec))
    )


@pytest.mark.parametrize("kind", SAME)
@few
@given(data=st.data())
def test_most_operations_want_the_cluster_as_it_is(
    kind: OperationKind, data: st.DataObject
) -> None:
    """Work on nodes, checks, creates and removals have the recorded cluster as their target."""
    spec, parameters, template = data.draw(asked(kind))
    assert target_of(spec, kind, parameters, template) == spec


@pytest.mark.parametrize("kind", OF_ONE_GROUP)
@few
@given(data=st.data())
def test_other_groups_are_left_alone(kind: OperationKind, data: st.DataObject) -> None:
    """An operation on one group changes nothing else: no other group, no template, no label."""
    spec, parameters, _ = data.draw(asked(kind))
    target = target_of(spec, kind, parameters)
    meant = parameters.group.uuid if parameters.group else parameters.node_group
    assert [one for one in target.node_groups if one.uuid != meant] == [
        one for one in spec.node_groups if one.uuid != meant
    ]
    assert (target.cluster, target.template) == (spec.cluster, spec.template)


@given(asked(OperationKind.UPGRADE))
def test_an_upgrade_leaves_other_groups_alone(asked: Asked) -> None:
    """Of the groups that are not moved nothing changes; of those that are, image and labels."""
    spec, parameters, template = asked
    target = target_of(spec, OperationKind.UPGRADE, parameters, template)
    moved = {group.uuid for group in upgraded_groups(spec, parameters)}
    for before, after in zip(spec.node_groups, target.node_groups, strict=True):
        if before.uuid not in moved:
            assert after == before
        else:
            assert after.image_id == template.image_id
            same = {"image_id": before.image_id, "labels": before.labels}
            assert after.model_copy(update=same) == before


@given(asked(OperationKind.UPGRADE))
def test_an_upgrade_moves_the_cluster_to_the_template(asked: Asked) -> None:
    """The cluster refers to the new template, and the target has it at hand."""
    spec, parameters, template = asked
    target = target_of(spec, OperationKind.UPGRADE, parameters, template)
    assert target.template == template
    assert target.cluster.cluster_template_id == template.uuid


@given(asked(OperationKind.UPGRADE))
def test_a_group_catches_up_with_its_cluster(asked: Asked) -> None:
    """One group that moves to its cluster's template leaves the cluster and its labels alone.

    A version that the cluster overrides holds for the group as well.
    """
    spec, parameters, _ = asked
    group = spec.group(parameters.node_group or spec.workers[0].uuid)
    one = parameters.model_copy(update={"node_group": group.uuid})
    target = target_of(spec, OperationKind.UPGRADE, one, spec.template)
    assert (target.cluster, target.template) == (spec.cluster, spec.template)
    for label, value in spec.template.labels.items():
        in_force = spec.cluster.labels.get(label, value)
        assert target.group(group.uuid).labels[label] == in_force


@given(specs())
def test_an_upgrade_of_all_skips_groups_that_are_not_there(spec: ClusterSpec) -> None:
    """A group that failed to be built has no nodes to move."""
    groups = upgraded_groups(spec, Parameters())
    assert {group.uuid for group in groups} == {
        group.uuid for group in spec.node_groups if group.status is not Status.CREATE_FAILED
    }


@given(asked(OperationKind.RESIZE), st.sampled_from([OperationKind.UPDATE, OperationKind.RESIZE]))
def test_a_resize_can_be_taken_back(asked: Asked, kind: OperationKind) -> None:
    """A resize to the previous size is the cluster that there was, whatever came between."""
    spec, parameters, _ = asked
    group = spec.group(parameters.node_group or "")
    there = target_of(spec, kind, parameters)
    assert there.group(group.uuid).node_count == parameters.node_count
    back = Parameters(node_group=group.uuid, node_count=group.node_count)
    assert target_of(there, kind, back) == spec


@given(asked(OperationKind.CREATE_NODE_GROUP))
def test_a_new_group_can_be_removed_again(asked: Asked) -> None:
    """Adding a group and removing it is the cluster that there was."""
    spec, parameters, _ = asked
    assert parameters.group
    there = target_of(spec, OperationKind.CREATE_NODE_GROUP, parameters)
    assert there.node_groups == (*spec.node_groups, parameters.group)
    back = Parameters(node_group=parameters.group.uuid)
    assert target_of(there, OperationKind.DELETE_NODE_GROUP, back) == spec


@given(asked(OperationKind.UPDATE_NODE_GROUP))
def test_a_change_of_a_group_can_be_taken_back(asked: Asked) -> None:
    """Writing the old group over the new one is the cluster that there was, order included."""
    spec, parameters, _ = asked
    assert parameters.group
    before = spec.group(parameters.group.uuid)
    there = target_of(spec, OperationKind.UPDATE_NODE_GROUP, parameters)
    back = Parameters(group=before)
    assert target_of(there, OperationKind.UPDATE_NODE_GROUP, back) == spec


@pytest.mark.parametrize("kind", list(OperationKind))
@few
@given(data=st.data())
def test_what_is_reached_stays(kind: OperationKind, data: st.DataObject) -> None:
    """The target of a target is the target: a retry after the record was written is harmless."""
    spec, parameters, template = data.draw(asked(kind))
    there = target_of(spec, kind, parameters, template)
    if kind is not OperationKind.DELETE_NODE_GROUP:
        again = target_of(there, kind, parameters, template)
        assert again.node_groups == there.node_groups
        assert again.template == there.template


@pytest.mark.parametrize(
    "kind",
    [
        OperationKind.UPDATE,
        OperationKind.RESIZE,
        OperationKind.UPGRADE,
        OperationKind.DELETE_NODE_GROUP,
    ],
)
def test_an_unknown_group_is_an_error(kind: OperationKind) -> None:
    """A group that is not there is named in the error, never passed over."""
    with pytest.raises(NotFoundError, match="nowhere"):
        target_of(make_spec(), kind, Parameters(node_group="nowhere", node_count=1))


@given(labels, labels, labels)
def test_labels_after_an_upgrade(
    mine: dict[str, str], old: dict[str, str], new: dict[str, str]
) -> None:
    """What the new template says holds; what the user added stays; what the old one gave goes."""
    after = upgraded_labels(mine, old, new)
    assert after.items() >= new.items()
    for label, value in mine.items():
        if label not in new:
            assert (label in after) is (old.get(label) != value)
    assert after.keys() <= mine.keys() | new.keys()


@given(labels, labels, labels)
def test_an_upgrade_of_labels_is_stable(
    mine: dict[str, str], old: dict[str, str], new: dict[str, str]
) -> None:
    """To move to the template that the cluster has changes no label any more."""
    after = upgraded_labels(mine, old, new)
    assert upgraded_labels(after, new, new) == after
