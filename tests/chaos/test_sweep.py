"""The sweep's parts: every case once, in the same order, at a point that the operation comes to."""

from collections import Counter, deque
from dataclasses import replace

import pytest

from jeroboam.drivers.fake.labels import Labels, parse
from jeroboam.models import (
    Action,
    ClusterTemplate,
    HookCall,
    HookPhase,
    HookSource,
    OperationKind,
    Plan,
)
from jeroboam.models.plans import HookReference, Hooks, build_plan
from jeroboam.models.targets import target_of
from tests.chaos.cases import ALL, START, STEP, WRITE, Case, Place, cases_of, fault_of
from tests.chaos.rules import EVERY_STEP, PLANNING, Act, When, writing
from tests.chaos.steady import parameters_of
from tests.chaos.sweep import ACTS, KINDS, REMOVALS, Extent, Script, Scripted, Sweep, deal
from tests.chaos.test_parts import living_spec

K = OperationKind
TEMPLATES = tuple(f"template-{number}" for number in range(12))
HOOKS = Hooks(
    before=(HookReference(call=HookCall(phase=HookPhase.BEFORE, source=HookSource.PYTHON)),),
    after=(HookReference(call=HookCall(phase=HookPhase.AFTER, source=HookSource.PYTHON)),),
)


def plan_of(kind: OperationKind) -> Plan:
    """Return the plan of what a sweep asks."""
    spec = living_spec(masters=1, workers=2)
    template = ClusterTemplate(**{**spec.template.model_dump(), "uuid": TEMPLATES[0]})
    spec = spec.model_copy(update={"template": template})
    if kind in {K.UPDATE_NODE_GROUP, K.DELETE_NODE_GROUP}:
        group = parameters_of(K.CREATE_NODE_GROUP, spec, TEMPLATES).group
        assert group
        spec = spec.model_copy(update={"node_groups": (*spec.node_groups, group)})
    parameters = parameters_of(kind, spec, TEMPLATES)
    return build_plan(kind, spec, target_of(spec, kind, parameters), parameters, hooks=HOOKS)


def rehearsed(extent: Extent) -> Sweep:
    """Return a sweep that has learnt the lengths of the plans."""
    sweep = Sweep(TEMPLATES, extent)
    for chooser in sweep.rehearsals():
        while chooser.script:
            chooser.fault(plan_of(chooser.script[0][0]))
            chooser.script.popleft()
    return sweep


@pytest.mark.parametrize("kind", KINDS)
def test_each_act_strikes_at_each_point(kind: OperationKind) -> None:
    """Nothing is left out: each step, the plan and each write; before, during and after."""
    plan = plan_of(kind)
    cases = list(cases_of(kind, len(plan.steps), ACTS))
    assert len(set(cases)) == len(cases)
    points = {step.name for step in plan.steps} | {PLANNING}
    points |= {writing(number) for number in range(1, len(plan.steps) + 2)}
    faults = [fault_of(case, plan) for case in cases]
    struck = Counter((one.act, one.step) for fault in faults for one in fault.strikes)
    for act in ACTS:
        times = 1 if act in {Act.TWICE, Act.LOST} else 3
        assert {step: struck[act, step] for step in points} == dict.fromkeys(points, times)
    for fault in faults:
        parse(fault.labels)
    assert sum(case.kills_api for case in cases) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_lasts_long_enough_to_have_a_middle(kind: OperationKind) -> None:
    """What is struck while a step is at work is not over by then."""
    plan = plan_of(kind)
    # Those call no backend and no hook.
    quick = {
        Action.ISSUE_CERTIFICATES,
        Action.TURN_CERTIFICATES,
        Action.FIND_LEFTOVERS,
        Action.REVOKE_CREDENTIALS,
    }
    for number, step in enumerate(plan.steps, start=1):
        fault = fault_of(Case(kind, Act.WORKER, Place(STEP, number), When.DURING), plan)
        slow = bool(fault.labels or fault.hook)
        assert slow == (step.action not in quick)
        assert slow == (fault.strikes[0].seconds > 0)
        assert set(fault.labels) <= set(Labels.model_fields)


def test_special_places_have_names() -> None:
    """Rules name the n-th write, and all activities at once."""
    plan = plan_of(K.RESIZE)
    (write,) = fault_of(Case(K.RESIZE, Act.API, Place(WRITE, 2), When.AFTER), plan).strikes
    assert write.step == writing(2)
    (every,) = fault_of(Case(K.RESIZE, Act.LOST, Place(ALL)), plan).strikes
    assert every.step == EVERY_STEP
    assert not fault_of(Case(K.RESIZE, Act.API, Place(START)), plan).strikes


@pytest.mark.parametrize("repeats", [1, 3])
def test_every_case_is_dealt_out_once(repeats: int) -> None:
    """A sweep covers all of its cases, in the same order each time."""
    extent = Extent(repeats=repeats)
    sweep, again = rehearsed(extent), rehearsed(extent)
    scripts: list[Script] = []
    while chooser := sweep.chooser(len(scripts)):
        other = again.chooser(len(scripts))
        assert other
        assert list(other.script) == list(chooser.script)
        scripts.append(tuple(chooser.script))
    dealt = Counter(case for script in scripts for _, case in script if case)
    wanted = {case for kind in KINDS for case in cases_of(kind, len(plan_of(kind).steps), ACTS)}
    assert set(dealt) == wanted
    assert set(dealt.values()) == {1}
    assert sweep.cases() == len(wanted)
    assert sweep.cases(first=len(scripts)) == 0


def test_a_script_is_a_life() -> None:
    """It begins with a creation, ends with a removal, and has the groups that it needs."""
    cases = {K.DELETE_NODE_GROUP: [Case(K.DELETE_NODE_GROUP, Act.API, Place(WRITE, 1))]}
    (script,) = deal(cases)
    kinds = [kind for kind, _ in script]
    assert kinds == [K.CREATE, K.CREATE_NODE_GROUP, K.DELETE_NODE_GROUP, K.DELETE]
    assert [case for _, case in script if case] == cases[K.DELETE_NODE_GROUP]


def test_a_removal_that_failed_is_asked_for_again() -> None:
    """The script has an end, the life only when the cluster is gone."""
    chooser = Scripted(deque([(K.CREATE, None), (K.DELETE, None)]), TEMPLATES, {})
    spec = living_spec(masters=1, workers=2)
    assert [chooser.wish(spec)[0] for _ in range(3)] == [K.DELETE] * 3


def test_a_part_of_a_sweep() -> None:
    """Kinds, acts and sides can be chosen; what cannot be killed is left out."""
    extent = Extent(kinds=[K.UPDATE_NODE_GROUP], sides=[When.AFTER])
    part = rehearsed(replace(extent.without(set(ACTS) - {Act.WORKER})))
    steps = len(plan_of(K.UPDATE_NODE_GROUP).steps)
    assert part.cases() == 1 + steps + steps + 1
    assert set(REMOVALS) <= set(KINDS)
