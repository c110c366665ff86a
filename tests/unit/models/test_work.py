"""The steps between the hooks, kind by kind."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.errors import InvalidRequestError, NotFoundError
from jeroboam.models import Action, BackendCall, Method, OperationKind, Parameters, Plan
from jeroboam.models.cluster import MASTER, ClusterSpec, Node
from jeroboam.models.targets import upgraded_groups
from jeroboam.models.work import MOST_BATCHES, batches, chosen_nodes
from tests.unit.models.clusters import (
    NODE_KINDS,
    Made,
    few,
    make_plan,
    plain_plans,
    requests,
    specs,
)
from tests.unit.specs import make_spec

RESIZES = st.sampled_from([OperationKind.UPDATE, OperationKind.RESIZE])
NODE_WORK = st.sampled_from(NODE_KINDS)


def calls(plan: Plan) -> list[BackendCall]:
    return [step.call for step in plan.steps if step.call and step.action is Action.SUBMIT]


def undoing(plan: Plan) -> list[BackendCall]:
    """The submissions of a full roll-back, in the order in which they are made."""
    return [
        step.call
        for done in reversed(plan.steps)
        for step in done.undo
        if step.call and step.action is Action.SUBMIT
    ]


def numbered(spec: ClusterSpec, count: int) -> ClusterSpec:
    """Return the cluster with that many nodes in its default group of workers."""
    nodes = tuple(Node(name=f"w{number}", id=str(number)) for number in range(count))
    groups = tuple(
        group if group.role == MASTER else group.model_copy(update={"nodes": nodes})
        for group in spec.node_groups
    )
    return spec.model_copy(update={"node_groups": groups})


@given(specs().flatmap(lambda spec: st.tuples(st.just(spec), requests(spec, NODE_KINDS[0]))))
def test_batches_hold_each_chosen_node_once(
    asked: tuple[ClusterSpec, Parameters],
) -> None:
    """All chosen nodes are worked on and none twice; without a choice those are all."""
    spec, parameters = asked
    found = [name for batch in batches(spec, parameters) for name in batch]
    expected = {
        node.name
        for group in spec.node_groups
        for node in group.nodes
        if (not parameters.node_groups or group.uuid in parameters.node_groups)
        and (not parameters.nodes or node.name in parameters.nodes)
    }
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert found == [node.name for node in chosen_nodes(spec, parameters)]


@given(specs().flatmap(lambda spec: st.tuples(st.just(spec), requests(spec, NODE_KINDS[0]))))
def test_batches_never_span_groups(asked: tuple[ClusterSpec, Parameters]) -> None:
    """A batch has nodes of one group, at most as many as was asked; masters go alone and first."""
    spec, parameters = asked
    group_of = {node.name: group for group in spec.node_groups for node in group.nodes}
    order = []
    for batch in batches(spec, parameters):
        (uuid,) = {group_of[name].uuid for name in batch}
        group = spec.group(uuid)
        most = 1 if group.role == MASTER else parameters.batch_size or len(group.nodes)
        assert 0 < len(batch) <= most
        order.append((group.role != MASTER, uuid))
    assert [worker for worker, _ in order] == sorted(worker for worker, _ in order)
    changes = sum(one != other for one, other in pairwise(order))
    assert changes == max(0, len(set(order)) - 1), "a group is left and come back to"


def test_a_group_that_is_named_twice_is_worked_on_once() -> None:
    """A group by its uuid and by its name is one group."""
    spec = numbered(make_spec(), 2)
    workers = spec.workers[0]
    parameters = Parameters(node_groups=(workers.uuid, workers.name), batch_size=None)
    assert list(batches(spec, parameters)) == [("w0", "w1")]


def test_a_node_outside_of_the_named_groups_is_refused() -> None:
    """A node that is named and would be passed over is an error which says what to do."""
    spec = numbered(make_spec(), 1)
    parameters = Parameters(node_groups=(spec.masters.uuid,), nodes=("w0",))
    with pytest.raises(InvalidRequestError, match=r"w0.*Name their groups as well"):
        list(batches(spec, parameters))


@pytest.mark.parametrize(
    "parameters", [Parameters(nodes=("w0", "w9")), Parameters(node_groups=("nowhere",))]
)
def test_what_is_not_there_is_named(parameters: Parameters) -> None:
    """An unknown node or group is an error with its name in it."""
    with pytest.raises(NotFoundError, match=r"w9|nowhere"):
        list(batches(numbered(make_spec(), 1), parameters))


def test_no_nodes_is_an_error() -> None:
    """A reboot of nothing is refused instead of succeeding at once."""
    with pytest.raises(InvalidRequestError, match="No nodes are chosen"):
        make_plan(OperationKind.SOFT_REBOOT, make_spec())


@pytest.mark.parametrize(("count", "allowed"), [(MOST_BATCHES, True), (MOST_BATCHES + 1, False)])
def test_too_many_batches_are_refused(count: int, allowed: bool) -> None:
    """More batches than a record can hold are refused, with the way out: larger ones."""
    spec = numbered(make_spec(), count)
    if allowed:
        assert len(calls(make_plan(OperationKind.REBUILD, spec))) == count
    else:
        with pytest.raises(InvalidRequestError, match="larger batch size"):
            make_plan(OperationKind.REBUILD, spec)
    larger = make_plan(OperationKind.REBUILD, spec, Parameters(batch_size=100))
    assert len(calls(larger)) <= MOST_BATCHES


def test_titles_of_batches_say_which_and_how_many() -> None:
    """A batch's step names its first nodes, and which of how many batches it is."""
    plan = make_plan(OperationKind.HARD_REBOOT, numbered(make_spec(), 6), Parameters(batch_size=5))
    titles = [call.submitted_by for call in calls(plan)]
    assert titles == [
        "Hard reboot w0, w1, w2 and 2 more (1 of 2)",
        "Hard reboot w5 (2 of 2)",
    ]


@few
@given(plain_plans(NODE_WORK))
def test_work_on_nodes_calls_one_method_and_undoes_nothing(made: Made) -> None:
    """A reboot or rebuild has one submission per batch; a rebooted node cannot be un-rebooted."""
    plan = made[0]
    rebuild = plan.kind is OperationKind.REBUILD
    for call in calls(plan):
        assert call.method is (Method.REBUILD_NODES if rebuild else Method.REBOOT_NODES)
        assert call.hard is (plan.kind is OperationKind.HARD_REBOOT)
        assert call.nodes
    assert undoing(plan) == []


@few
@given(plain_plans(st.just(OperationKind.UPGRADE)))
def test_an_upgrade_moves_the_control_plane_first(made: Made) -> None:
    """Nodes must not be newer than their control plane; going back it is the last one."""
    plan, spec, parameters = made
    groups = [call.node_group for call in calls(plan)]
    assert groups == [group.uuid for group in upgraded_groups(spec, parameters)]
    if parameters.node_group is None:
        assert groups[0] == spec.masters.uuid
    assert [call.node_group for call in undoing(plan)] == list(reversed(groups))


@few
@given(plain_plans(st.just(OperationKind.UPGRADE)))
def test_an_upgrade_takes_masters_one_at_a_time(made: Made) -> None:
    """Whatever batch size was asked for, the control plane keeps its quorum."""
    plan, spec, parameters = made
    for call in (*calls(plan), *undoing(plan)):
        masters = call.node_group == spec.masters.uuid
        assert call.batch_size == (1 if masters else parameters.batch_size)


@given(
    plain_plans(
        st.sampled_from([OperationKind.UPGRADE, OperationKind.UPDATE, OperationKind.RESIZE])
    )
)
def test_going_back_is_the_same_call_towards_the_record(made: Made) -> None:
    """A roll-back calls the same method for the same group, in reverse, and removes no named node.

    The nodes that were to be removed may be gone, or needed: the record says how many there were.
    """
    there, back = calls(made[0]), undoing(made[0])
    assert [(one.method, one.node_group) for one in back] == [
        (one.method, one.node_group) for one in reversed(there)
    ]
    assert all(one.restore and not one.nodes_to_remove for one in back)
    assert not any(one.restore for one in there)


@few
@given(plain_plans(RESIZES))
def test_a_resize_tells_both_sizes(made: Made) -> None:
    """The step of a resize says from what to what, that of its roll-back to what."""
    plan, spec, parameters = made
    (call,) = calls(plan)
    before = spec.group(parameters.node_group or "").node_count
    assert call.submitted_by.endswith(f"from {before} to {parameters.node_count}")
    assert undoing(plan)[0].submitted_by.endswith(f"to {before}")


def test_nodes_to_remove_reach_the_driver() -> None:
    """Nodes that a resize shall remove are in its call, and not in that of its roll-back."""
    spec = numbered(make_spec(workers=2), 2)
    parameters = Parameters(node_group=spec.workers[0].uuid, node_count=1, nodes_to_remove=("w0",))
    plan = make_plan(OperationKind.RESIZE, spec, parameters)
    assert [call.nodes_to_remove for call in calls(plan)] == [("w0",)]
    assert [call.nodes_to_remove for call in undoing(plan)] == [()]


@pytest.mark.parametrize(
    ("kind", "undo"),
    [
        (OperationKind.CREATE, Method.DELETE_CLUSTER),
        (OperationKind.CREATE_NODE_GROUP, Method.DELETE_NODE_GROUP),
    ],
)
@few
@given(data=st.data())
def test_what_was_built_is_removed(kind: OperationKind, undo: Method, data: st.DataObject) -> None:
    """The roll-back of a creation removes it, and that is no way back to a record."""
    plan, _, _ = data.draw(plain_plans(st.just(kind)))
    (there,), (back,) = calls(plan), undoing(plan)
    assert (back.method, back.node_group) == (undo, there.node_group)
    assert not back.restore
    assert back.method.removes


@few
@given(plain_plans(st.just(OperationKind.UPDATE_NODE_GROUP)))
def test_bounds_of_a_group_ask_nothing_of_the_backend(made: Made) -> None:
    """Bounds, labels and taints are recorded for nodes to come."""
    assert calls(made[0]) == []


@few
@given(plain_plans(st.sampled_from([OperationKind.DELETE, OperationKind.FORCE_DELETE])))
def test_a_removal_looks_for_what_is_left(made: Made) -> None:
    """After a removal somebody looks; nothing of it can be undone."""
    plan = made[0]
    assert [call.method for call in calls(plan)] == [Method.DELETE_CLUSTER]
    actions = [step.action for step in plan.steps]
    assert actions.index(Action.FIND_LEFTOVERS) > actions.index(Action.WAIT)
    assert undoing(plan) == []


@given(plain_plans())
def test_addresses_are_read_after_a_change(made: Made) -> None:
    """Whatever changes nodes and leaves the cluster reads its addresses when it is done."""
    plan = made[0]
    actions = [step.action for step in plan.steps]
    stays = not plan.kind.deletes and plan.kind is not OperationKind.DELETE_NODE_GROUP
    if stays and Action.WAIT in actions:
        last_wait = len(actions) - 1 - actions[::-1].index(Action.WAIT)
        assert Action.COLLECT_OUTPUTS in actions[last_wait:]
