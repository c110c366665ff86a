"""The harness's own parts: rules that fire once, draws that fit, requests for every kind."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.fake.labels import parse
from jeroboam.models import ClusterSpec, Node, OperationKind, Parameters, Plan
from jeroboam.models.plans import Hooks, build_plan
from jeroboam.models.targets import target_of
from tests.chaos import faults, wishes
from tests.chaos.backend_faults import BackendFaults
from tests.chaos.faults import Outcome
from tests.chaos.rules import EVERY_STEP, PLANNING, Act, Rule, RuleBook, When, writing
from tests.chaos.tenant import request
from tests.unit.specs import make_spec

seeds = st.integers(0, 10**9)


def living(chance: random.Random) -> ClusterSpec:
    """Return a cluster of some size."""
    return living_spec(masters=chance.choice((1, 3)), workers=chance.randint(1, 4))


def living_spec(*, masters: int, workers: int) -> ClusterSpec:
    """Return a cluster whose nodes are known."""
    spec = make_spec(masters=masters, workers=workers)
    groups = tuple(
        group.model_copy(
            update={
                "nodes": tuple(
                    Node(name=f"{group.name}-{number}", id=str(number))
                    for number in range(group.node_count)
                )
            }
        )
        for group in spec.node_groups
    )
    return spec.model_copy(update={"node_groups": groups})


def plan_of(kind: OperationKind, parameters: Parameters, spec: ClusterSpec) -> Plan:
    target = target_of(spec, kind, parameters)
    return build_plan(kind, spec, target, parameters, hooks=Hooks())


@given(seeds)
def test_every_wish_can_be_planned_and_asked_for(seed: int) -> None:
    """Whatever is drawn is an operation that the cluster can take."""
    chance = random.Random(seed)
    spec = living(chance)
    kind, parameters = wishes.wish(chance, spec, (spec.template.uuid, "next"))
    assert plan_of(kind, parameters, spec).kind is kind
    method, path, _ = request(spec.cluster.uuid, kind, parameters)
    assert method in {"POST", "PATCH", "DELETE"}
    assert path.startswith("/v1/")
    assert spec.cluster.uuid in path


@given(seeds)
def test_every_fault_fits_its_operation(seed: int) -> None:
    """A fault strikes at steps that there are, with labels that the backend knows."""
    chance = random.Random(seed)
    spec = living(chance)
    kind, parameters = wishes.wish(chance, spec, (spec.template.uuid, "next"))
    plan = plan_of(kind, parameters, spec)
    fault = faults.draw(chance, plan)
    parse(fault.labels)
    writes = {writing(number) for number in range(1, len(plan.steps) + 2)}
    steps = {step.name for step in plan.steps} | {EVERY_STEP, PLANNING} | writes
    assert {strike.step for strike in fault.strikes} <= steps
    if fault.outcome is Outcome.WELL:
        assert "fake_lie" not in fault.labels


@pytest.mark.parametrize(
    "kind", [kind for kind in OperationKind if kind is not OperationKind.CREATE]
)
def test_every_kind_has_a_request(kind: OperationKind) -> None:
    """All that the API offers is asked for."""
    group = make_spec().node_groups[0]
    parameters = Parameters(node_group="g", node_count=2, group=group, cluster_template_id="t")
    assert request("c", kind, parameters)


def test_a_rule_fires_once(tmp_path: Path) -> None:
    """Of several processes that come to the point of a rule, one obeys it."""
    one, other = RuleBook(tmp_path), RuleBook(tmp_path)
    rule = Rule.new("operation", "Submit", When.BEFORE, Act.WORKER)
    assert not one.known("operation")
    one.set("operation", [rule])
    assert other.of("operation") == (rule,)
    assert not other.fired(rule)
    assert [one.fire(rule), other.fire(rule)] == [True, False]
    assert other.fired(rule)


def test_counts_begin_anew(tmp_path: Path) -> None:
    """A fault that shall happen once does so although it has happened before."""
    backend = BackendFaults(tmp_path)
    spec = make_spec()
    labels = {"fake_fail": "create", "fake_fail_times": "1"}
    backend.set(spec.cluster.uuid, labels)
    held = FakeDriver(tmp_path)._behaviour(spec)
    assert held.fake_fail_times == 1
    backend.clear(spec.cluster.uuid)
    assert FakeDriver(tmp_path)._behaviour(spec).fake_fail is None
