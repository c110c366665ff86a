"""Plans are pure data: what holds for those of every kind."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.models import (
    Action,
    ClusterSpec,
    FailurePolicy,
    HookCall,
    HookPhase,
    HookSource,
    OperationKind,
    Parameters,
    Plan,
    PlanStep,
    Status,
)
from jeroboam.models.plans import (
    CALL_MINUTES,
    LONGEST_DEADLINE_MINUTES,
    HookReference,
    Hooks,
    build_plan,
)
from jeroboam.models.rotation import ROTATIONS
from jeroboam.models.targets import target_of
from jeroboam.models.work import DRAIN_SECONDS, DriverFacts
from tests.unit.models.clusters import (
    NODE_KINDS,
    Made,
    few,
    hook_references,
    make_plan,
    plans,
    specs,
)
from tests.unit.specs import make_spec

LONGEST_NAME = 255
"""What the store's column holds."""


def all_steps(plan: Plan) -> Iterator[PlanStep]:
    for step in (*plan.steps, *plan.on_failure):
        yield step
        yield from step.undo


def reference(phase: HookPhase, name: str, **fields: FailurePolicy) -> HookReference:
    return HookReference(call=HookCall(phase=phase, source=HookSource.PYTHON, name=name), **fields)


@given(plans())
def test_names_are_unique_and_short(made: Made) -> None:
    """No two steps have one name, roll-back and failure hooks included, and each fits its column.

    A step's name is part of its idempotency key: two alike would be one.
    """
    names = [step.name for step in all_steps(made[0])]
    assert len(set(names)) == len(names)
    assert all(0 < len(name) <= LONGEST_NAME and "\n" not in name for name in names)


@given(plans())
def test_every_submission_is_waited_for(made: Made) -> None:
    """A ``WAIT`` comes right after its ``SUBMIT``, is about the same call and shares its key."""
    for steps in (made[0].steps, *(step.undo for step in made[0].steps)):
        for step, following in pairwise((*steps, None)):
            assert step is not None
            if step.action is Action.SUBMIT:
                assert step.call is not None
                assert step.call.submitted_by == step.name
                assert following is not None
                assert following.action is Action.WAIT
                assert following.call == step.call
        counted = [step.action for step in steps]
        assert counted.count(Action.SUBMIT) == counted.count(Action.WAIT)


@given(plans())
def test_only_calls_of_the_backend_are_undone(made: Made) -> None:
    """Only a submission has steps of a roll-back, and those have none of their own.

    What is led back is waited for; to read the addresses afterwards may fail. What is removed
    is verified. Rotations change what is stored, too, and have tests of their own.
    """
    for step in made[0].steps if made[0].kind not in ROTATIONS else ():
        assert not step.undo or step.action is Action.SUBMIT
        assert all(not one.undo for one in step.undo)
        assert [one.action for one in step.undo][:2] in ([], [Action.SUBMIT, Action.WAIT])
        for reading in step.undo[2:]:
            if reading.action is Action.FIND_LEFTOVERS:
                assert made[0].kind is OperationKind.CREATE
                continue
            assert reading.action is Action.COLLECT_OUTPUTS
            assert reading.on_failure is FailurePolicy.WARN


@given(plans())
def test_a_plan_survives_the_wire(made: Made) -> None:
    """A plan that goes into history comes back as it was."""
    assert Plan.model_validate_json(made[0].model_dump_json()) == made[0]


@given(plans())
def test_the_same_question_gets_the_same_plan(made: Made) -> None:
    """A second look at the same cluster gives the same names: a retry must find its steps."""
    plan, spec, parameters = made
    if plan.kind is OperationKind.UPGRADE:
        return
    again = make_plan(plan.kind, spec, parameters, hooks_of(plan))
    assert [step.name for step in again.steps] == [step.name for step in plan.steps]


def hooks_of(plan: Plan) -> Hooks:
    def of(phase: HookPhase, steps: tuple[PlanStep, ...]) -> tuple[HookReference, ...]:
        calls = (step.hook for step in steps if step.hook and step.hook.phase is phase)
        return tuple(HookReference(call=call) for call in calls)

    return Hooks(
        before=of(HookPhase.BEFORE, plan.steps),
        after=of(HookPhase.AFTER, plan.steps),
        on_failure=of(HookPhase.FAILURE, plan.on_failure),
    )


@given(plans())
def test_a_deadline_has_an_end(made: Made) -> None:
    """Every operation ends; none has less than a minute."""
    plan, spec, _ = made
    calls = sum(step.action is Action.SUBMIT for step in plan.steps)
    longest = max(LONGEST_DEADLINE_MINUTES, calls * (spec.cluster.create_timeout or CALL_MINUTES))
    assert 60 <= plan.deadline_seconds <= 60 * longest


@given(plans(), st.data())
def test_hooks_surround_the_work(made: Made, data: st.DataObject) -> None:
    """The first hooks run before all work, the last after it; both in the order that is given."""
    plan, spec, parameters = made
    if plan.kind is OperationKind.UPGRADE:
        return
    before = data.draw(hook_references(HookPhase.BEFORE))
    after = data.draw(hook_references(HookPhase.AFTER))
    found = make_plan(plan.kind, spec, parameters, Hooks(before=before, after=after)).steps
    bare = make_plan(plan.kind, spec, parameters).steps
    calls = [step.hook for step in found]
    middle = bare[:-1] if plan.kind.deletes else bare
    expected = [hook.call for hook in before] + [None] * len(middle) + [hook.call for hook in after]
    assert calls[: len(expected)] == expected


@few
@given(plans(st.sampled_from([OperationKind.DELETE, OperationKind.FORCE_DELETE])))
def test_credentials_go_last(made: Made) -> None:
    """A removal needs the cluster's trust until its last step, which revokes it."""
    actions = [step.action for step in made[0].steps]
    assert actions.index(Action.REVOKE_CREDENTIALS) == len(actions) - 1


@few
@given(plans(st.just(OperationKind.FORCE_DELETE)))
def test_nothing_stops_a_removal_by_force(made: Made) -> None:
    """No step of it can fail the operation, hooks included, and each has a time limit."""
    for step in all_steps(made[0]):
        assert step.on_failure is not FailurePolicy.FAIL
        assert step.timeout_seconds is not None


@pytest.mark.parametrize("policy", list(FailurePolicy))
@few
@given(kind=st.sampled_from([OperationKind.CREATE, OperationKind.DELETE]))
def test_a_hook_keeps_its_policy(policy: FailurePolicy, kind: OperationKind) -> None:
    """What a declaration says of failures holds, but in a failure hook, which can only warn."""
    one = reference(HookPhase.BEFORE, "one", on_failure=policy)
    last = reference(HookPhase.FAILURE, "last", on_failure=policy)
    plan = make_plan(kind, make_spec(), hooks=Hooks(before=(one,), on_failure=(last,)))
    assert plan.steps[0].on_failure is policy
    assert plan.on_failure[0].on_failure is (
        FailurePolicy.WARN if policy is FailurePolicy.FAIL else policy
    )


def test_a_hook_declared_twice_runs_twice() -> None:
    """Two declarations of one hook are two steps, the second with a number."""
    twice = (reference(HookPhase.BEFORE, "dns"), reference(HookPhase.BEFORE, "dns"))
    plan = make_plan(OperationKind.CREATE, make_spec(), hooks=Hooks(before=twice))
    assert [step.name for step in plan.steps[:2]] == [
        "Before create: hook dns",
        "Before create: hook dns (2)",
    ]


@pytest.mark.parametrize("kind", NODE_KINDS)
@few
@given(spec=specs())
def test_what_is_touched_says_so(kind: OperationKind, spec: ClusterSpec) -> None:
    """An operation on a node by name concerns the status of that node's group alone.

    One on all nodes leaves the groups out that failed to be built: nothing happens to them.
    """
    plan = make_plan(kind, spec, Parameters(nodes=(spec.masters.nodes[0].name,)))
    assert plan.node_groups == (spec.masters.uuid,)
    rest = make_plan(kind, spec).node_groups
    built = [group.uuid for group in spec.node_groups if group.built]
    assert list(rest or (group.uuid for group in spec.node_groups)) == built


@given(specs())
def test_a_check_touches_nothing(spec: ClusterSpec) -> None:
    """A check of the health asks for no change, and changes the status of no group."""
    plan = make_plan(OperationKind.CHECK_HEALTH, spec)
    assert plan.node_groups == ()
    assert plan.changes == {}
    assert all(step.action is not Action.SUBMIT for step in plan.steps)


@pytest.mark.parametrize(("minutes", "expected"), [(7, 7), (0, LONGEST_DEADLINE_MINUTES)])
def test_create_timeout_is_the_deadline(minutes: int, expected: int) -> None:
    """``create_timeout`` is in minutes, and 0 is Magnum's "none": a day."""
    plan = make_plan(OperationKind.CREATE, make_spec(create_timeout=minutes))
    assert plan.deadline_seconds == expected * 60


def test_a_delete_is_not_bound_by_the_create_timeout() -> None:
    """A delete may outlast a short ``create_timeout``."""
    plan = make_plan(OperationKind.DELETE, make_spec(create_timeout=1))
    assert plan.deadline_seconds == LONGEST_DEADLINE_MINUTES * 60


def test_each_call_has_the_create_timeout() -> None:
    """An upgrade of two groups may take twice the time that the creation may."""
    plan = make_plan(OperationKind.UPGRADE, make_spec(create_timeout=5))
    assert plan.deadline_seconds == 2 * 5 * 60


def test_changes_of_a_create_are_its_nodes() -> None:
    """A dry run of a create tells how many nodes come to be."""
    plan = make_plan(OperationKind.CREATE, make_spec(masters=3, workers=2))
    assert plan.changes == {
        "default-master.node_count": "0 -> 3",
        "default-worker.node_count": "0 -> 2",
    }


def test_changes_of_a_resize_are_the_count() -> None:
    """A dry run of a resize tells from what to what."""
    spec = make_spec(workers=2)
    workers = spec.workers[0].uuid
    plan = make_plan(OperationKind.RESIZE, spec, Parameters(node_group=workers, node_count=5))
    assert plan.changes == {"default-worker.node_count": "2 -> 5"}


def test_changes_of_an_upgrade_are_template_labels_and_images() -> None:
    """A dry run of an upgrade tells both templates, each label that moves, and the images."""
    spec = make_spec(labels={"kube_tag": "v1.30.1", "old": "1"})
    spec = spec.model_copy(
        update={
            "template": spec.template.model_copy(
                update={"labels": {"kube_tag": "v1.30.1", "old": "1"}}
            )
        }
    )
    new = spec.template.model_copy(
        update={"uuid": "t2", "name": "next", "labels": {"kube_tag": "v1.31.0"}, "image_id": "n"}
    )
    plan = make_plan(OperationKind.UPGRADE, spec, template=new)
    assert plan.changes == {
        "cluster_template": "template -> next",
        "labels.kube_tag": "v1.30.1 -> v1.31.0",
        "labels.old": "1 -> not set",
        "default-master.image_id": "None -> n",
        "default-worker.image_id": "None -> n",
    }


@pytest.mark.parametrize("kind", [OperationKind.DELETE, OperationKind.FORCE_DELETE])
def test_changes_of_a_delete_are_the_cluster(kind: OperationKind) -> None:
    """A dry run of a removal says that all of it goes."""
    assert make_plan(kind, make_spec()).changes == {
        "cluster": "demo and all that belongs to it is removed"
    }


def test_changes_of_node_groups_come_and_go() -> None:
    """A dry run tells a group that is added, and one that goes, with its nodes."""
    spec = make_spec(workers=4)
    extra = spec.workers[0].model_copy(update={"uuid": "x", "name": "gpu", "node_count": 2})
    added = make_plan(OperationKind.CREATE_NODE_GROUP, spec, Parameters(group=extra))
    assert added.changes == {"gpu": "added, with 2 nodes"}
    with_it = spec.model_copy(update={"node_groups": (*spec.node_groups, extra)})
    gone = make_plan(OperationKind.DELETE_NODE_GROUP, with_it, Parameters(node_group="x"))
    assert gone.changes == {"gpu": "removed, with 2 nodes"}


def test_a_group_whose_row_is_there_already_is_added() -> None:
    """The row of a group is there while it is built; that is no reason to say nothing changes."""
    spec = make_spec()
    extra = spec.workers[0].model_copy(
        update={"uuid": "x", "name": "gpu", "status": Status.CREATE_IN_PROGRESS}
    )
    spec = spec.model_copy(update={"node_groups": (*spec.node_groups, extra)})
    plan = make_plan(OperationKind.CREATE_NODE_GROUP, spec, Parameters(group=extra))
    assert plan.changes == {"gpu": "added, with 1 node"}


def test_changes_of_a_group_are_its_fields() -> None:
    """A dry run of an update of a group tells bounds, labels and taints."""
    spec = make_spec()
    changed = spec.workers[0].model_copy(
        update={"max_node_count": 7, "node_labels": {"disk": "ssd"}}
    )
    plan = make_plan(OperationKind.UPDATE_NODE_GROUP, spec, Parameters(group=changed))
    assert plan.changes == {
        "default-worker.max_node_count": "None -> 7",
        "default-worker.node_labels": "{} -> {'disk': 'ssd'}",
    }
    assert plan.node_groups == (changed.uuid,)


@pytest.mark.parametrize(("count", "drained"), [(1, True), (2, False), (3, False)])
def test_nodes_are_emptied_only_where_some_go(count: int, *, drained: bool) -> None:
    """And the time for it comes on top; a roll-back opens them after the nodes are back."""
    spec = make_spec(workers=2)
    parameters = Parameters(node_group=spec.workers[0].uuid, node_count=count)
    target = target_of(spec, OperationKind.RESIZE, parameters)
    plain, plan = (
        build_plan(
            OperationKind.RESIZE, spec, target, parameters, driver=DriverFacts(drains=drains)
        )
        for drains in (False, True)
    )
    steps = [step for step in plan.steps if step.action is Action.DRAIN]
    assert len(steps) == drained
    assert plan.deadline_seconds - plain.deadline_seconds == DRAIN_SECONDS * drained
    if drained:
        assert plan.steps[0] == steps[0]
        assert [undo.action for undo in steps[0].undo] == [Action.UNDRAIN]
        assert plan.steps[1:] == plain.steps
    else:
        assert plan == plain
