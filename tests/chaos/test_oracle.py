"""The oracle sees what is not as it should be: a record that was tampered with is found out."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.fake.backend import FakeBackend
from jeroboam.drivers.fake.cluster import FakeCluster
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.fake.records import Entry, Event, FakeGroup, WorkState
from jeroboam.models import (
    ClusterSpec,
    Operation,
    OperationKind,
    OperationState,
    Status,
    StepRecord,
    StepState,
    utc_now,
)
from tests.chaos.fake_oracle import Case, judge
from tests.chaos.faults import Outcome
from tests.fakes import NoCloud, no_secrets
from tests.unit.specs import make_spec

Change = Callable[[Case], Case]


@dataclass
class Made:
    """A cluster of the fake driver and the record of its creation."""

    spec: ClusterSpec
    operation: Operation
    known: FakeCluster = field(repr=False)

    def case(self) -> Case:
        return Case(self.operation, Outcome.WELL, self.spec, self.spec, self.known)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    spec = make_spec(workers=2, labels={"fake_create_seconds": "0"}, status=Status.CREATE_COMPLETE)
    operation = Operation(
        kind=OperationKind.CREATE,
        cluster_id=spec.cluster.uuid,
        cluster_name=spec.cluster.name,
        project_id="p1",
        user_id="u1",
        request_id="r1",
        state=OperationState.SUCCEEDED,
        ended_at=utc_now(),
        steps=(StepRecord(name="Submit", state=StepState.SUCCEEDED),),
    )
    driver = FakeDriver(tmp_path)
    key = f"{spec.cluster.uuid}:{operation.uuid}:Submit"
    context = DriverContext(key, NoCloud(), no_secrets)
    driver.create_cluster(context, spec, 1)
    nodes = driver.read_outputs(context, spec).nodes
    groups = tuple(
        group.model_copy(update={"nodes": nodes[group.uuid], "status": Status.CREATE_COMPLETE})
        for group in spec.node_groups
    )
    cluster = spec.cluster.model_copy(update={"operation_id": operation.uuid})
    recorded = spec.model_copy(update={"cluster": cluster, "node_groups": groups})
    return Made(recorded, operation, FakeBackend(tmp_path).read(cluster.uuid))


def with_cluster(case: Case, **fields: object) -> Case:
    assert case.now
    cluster = case.now.cluster.model_copy(update=fields)
    return replace(case, now=case.now.model_copy(update={"cluster": cluster}))


def with_operation(case: Case, **fields: object) -> Case:
    return replace(case, operation=case.operation.model_copy(update=fields))


def with_worker(case: Case, **fields: object) -> Case:
    assert case.now
    masters, workers = case.now.node_groups
    groups = (masters, workers.model_copy(update=fields))
    return replace(case, now=case.now.model_copy(update={"node_groups": groups}))


def rebooted_twice(case: Case) -> Case:
    for step in ("one", "two"):
        case.known.journal.append(
            Entry(
                at=0,
                event=Event.REBOOTED,
                call="reboot",
                key=f"c:{case.operation.uuid}:{step}",
                subject="demo-default-worker-0",
            )
        )
    return case


def created_twice(case: Case) -> Case:
    case.known.journal += [entry for entry in case.known.journal if entry.event is Event.CREATED]
    return case


def unknown_group(case: Case) -> Case:
    case.known.groups["else"] = FakeGroup(uuid="else", name="else", number=9, role="worker")
    return case


def missing_group(case: Case) -> Case:
    case.known.groups.popitem()
    return case


def other_version(case: Case) -> Case:
    next(case.known.nodes()).version = "v1.20.0"
    return case


def still_at_work(case: Case) -> Case:
    next(iter(case.known.works.values())).state = WorkState.RUNNING
    return case


def gone_with_files(case: Case) -> Case:
    return replace(case, now=None)


def gone_with_leftovers(case: Case) -> Case:
    case.known.exists, case.known.leftovers = False, ["volume v (1)"]
    return replace(case, now=None)


def test_what_is_right_passes(made: Made) -> None:
    """A creation that went well gives no finding."""
    assert list(judge(made.case())) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda case: with_cluster(case, status=Status.UPDATE_IN_PROGRESS), "stuck: the cluster"),
        (lambda case: with_cluster(case, status=Status.CREATE_FAILED), "wrong: create is SUCC"),
        (lambda case: with_cluster(case, operation_id="other"), "wrong: the cluster names"),
        (lambda case: with_worker(case, status=Status.CREATE_IN_PROGRESS), "stuck: node group"),
        (lambda case: with_worker(case, node_count=3), "wrong: default-worker has 2 nodes, and 3"),
        (lambda case: with_worker(case, nodes=()), "wrong: nodes of default-worker differ"),
        (lambda case: with_operation(case, ended_at=None), "wrong: an operation that has ended"),
        (
            lambda case: with_operation(case, steps=(StepRecord(name="Submit"),)),
            "wrong: step 'Submit' is PENDING",
        ),
        (
            lambda case: with_operation(case, state=OperationState.FAILED),
            "wrong: create ended FAILED",
        ),
        (rebooted_twice, "duplicated: demo-default-worker-0 was rebooted 2 times"),
        (created_twice, "duplicated: demo-default-master-0 was created 2 times"),
        (created_twice, "duplicated: 6 nodes were created, and 3 should be"),
        (unknown_group, "orphaned: node group else"),
        (missing_group, "lost: node group default-worker"),
        (other_version, "wrong: default-master runs ['v1.20.0']"),
        (still_at_work, "wrong: the backend is still at work"),
        (gone_with_files, "orphaned: 3 nodes of a cluster that is gone"),
        (gone_with_leftovers, "orphaned: volume v (1)"),
    ],
)
def test_what_is_not_right_is_found(made: Made, change: Change, found: str) -> None:
    """Each kind of damage is named."""
    findings = list(judge(change(made.case())))
    assert any(finding.startswith(found) for finding in findings), findings


def test_a_failure_needs_its_reason(made: Made) -> None:
    """An operation that was meant to fail, and says not why, is found."""
    case = replace(made.case(), outcome=Outcome.BADLY)
    failed = with_cluster(
        with_operation(case, state=OperationState.FAILED), status=Status.CREATE_FAILED
    )
    assert list(judge(failed)) == ["wrong: create is FAILED without a reason"]
    assert list(judge(with_operation(failed, reason="No valid host"))) == []


def test_what_is_half_done_may_differ(made: Made) -> None:
    """After a failure that was not rolled back the record need not agree with the backend."""
    case = replace(made.case(), outcome=Outcome.STOPPED)
    case = with_operation(case, state=OperationState.CANCELLED, reason="Cancelled.")
    case = with_cluster(case, status=Status.CREATE_FAILED)
    assert list(judge(with_worker(case, node_count=7))) == []


def test_a_repeated_call_may_heal(made: Made) -> None:
    """What must fail may end well only if the backend was asked for the same once more."""
    case = replace(made.case(), outcome=Outcome.BADLY)
    assert any("not badly" in problem for problem in judge(case))
    begun = next(one for one in case.known.journal if one.event is Event.BEGUN)
    case.known.journal.append(begun.model_copy(update={"event": Event.RESUMED}))
    assert list(judge(case)) == []
