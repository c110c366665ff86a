"""The oracle of the cloud sees what is not as it should be, in a survey that was tampered with."""

import base64
import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from jeroboam.models import (
    ClusterSpec,
    Node,
    Operation,
    OperationKind,
    OperationState,
    Parameters,
    Status,
    StepRecord,
    StepState,
    utc_now,
)
from tests.chaos.cloud.oracle import Case, judge
from tests.chaos.cloud.survey import Act, Server, Stack, Survey, Thing, version_in
from tests.chaos.faults import Outcome
from tests.unit.specs import make_spec

Change = Callable[[Case], Case]
K = OperationKind
VERSION = "v1.30.0"
WORKER = "demo-default-worker-0"


def living() -> ClusterSpec:
    """Return a cluster of one master and two workers, as it is recorded."""
    spec = make_spec(workers=2, status=Status.UPDATE_COMPLETE)
    groups = tuple(
        group.model_copy(
            update={
                "status": Status.UPDATE_COMPLETE,
                "nodes": tuple(
                    Node(
                        name=f"demo-{group.name}-{number}",
                        id=f"{group.name}-{number}",
                        status="ACTIVE",
                        addresses=(f"10.0.0.{number}",),
                        version=VERSION,
                    )
                    for number in range(group.node_count)
                ),
            }
        )
        for group in spec.node_groups
    )
    return spec.model_copy(update={"node_groups": groups})


def operation_on(spec: ClusterSpec, kind: OperationKind, parameters: Parameters) -> Operation:
    return Operation(
        kind=kind,
        cluster_id=spec.cluster.uuid,
        cluster_name=spec.cluster.name,
        project_id="p1",
        user_id="u1",
        request_id="r1",
        parameters=parameters,
        state=OperationState.SUCCEEDED,
        ended_at=utc_now(),
        steps=(StepRecord(name="Submit", state=StepState.SUCCEEDED),),
    )


def seen(spec: ClusterSpec) -> Survey:
    """Return a cloud that agrees with the record."""
    nodes = [node for group in spec.node_groups for node in group.nodes]
    return Survey(
        stacks=(Stack(id="s", name="demo", status="UPDATE_COMPLETE"),),
        servers=tuple(
            Server(
                id=node.id or "",
                name=node.name,
                status="ACTIVE",
                task=None,
                addresses=node.addresses,
                version=node.version,
                actions=(),
            )
            for node in nodes
        ),
        things=(Thing(kind="port", id="p", name="demo-port", known=True),),
        trust=True,
    )


def case_of(kind: OperationKind, parameters: Parameters | None = None) -> Case:
    before = living()
    operation = operation_on(before, kind, parameters or Parameters())
    cluster = before.cluster.model_copy(update={"operation_id": operation.uuid})
    now = before.model_copy(update={"cluster": cluster})
    return Case(operation, Outcome.WELL, before, now, seen(now))


def rebooted(case: Case, name: str, times: int = 1, *, failed: bool = False) -> Case:
    """Let Nova's log tell of reboots of one server."""
    when = case.operation.created_at + timedelta(seconds=1)
    entry = Act(kind="reboot", request="r", started=when, failed=failed)
    servers = tuple(
        one.model_copy(update={"actions": (*one.actions, *[entry] * times)})
        if one.name == name
        else one
        for one in case.known.servers
    )
    return with_known(case, servers=servers)


def with_known(case: Case, **fields: object) -> Case:
    return replace(case, known=case.known.model_copy(update=fields))


def with_worker(case: Case, **fields: object) -> Case:
    servers = tuple(
        one.model_copy(update=fields) if one.name == WORKER else one for one in case.known.servers
    )
    return with_known(case, servers=servers)


def without_worker(case: Case) -> Case:
    return with_known(case, servers=[one for one in case.known.servers if one.name != WORKER])


def with_other(case: Case, name: str) -> Case:
    other = case.known.servers[0].model_copy(update={"id": "other", "name": name})
    return with_known(case, servers=(*case.known.servers, other))


def all_rebooted() -> Case:
    case = case_of(K.HARD_REBOOT)
    for server in case.known.servers:
        case = rebooted(case, server.name)
    return case


def resized_to_three() -> Case:
    """Return a resize from two that said well and did nothing."""
    case = case_of(K.RESIZE)
    wanted = Parameters(node_group=case.before.workers[0].uuid, node_count=3)
    return replace(case, operation=case.operation.model_copy(update={"parameters": wanted}))


def gone(case: Case) -> Case:
    return replace(case, now=None, known=Survey())


@pytest.mark.parametrize(
    "case",
    [
        case_of(K.CHECK_HEALTH),
        all_rebooted(),
        gone(case_of(K.DELETE)),
        rebooted(all_rebooted(), WORKER, failed=True),
    ],
    ids=["nothing", "reboot", "delete", "a failed attempt does not count"],
)
def test_what_is_right_is_left_alone(case: Case) -> None:
    """Where cloud and record agree, nothing is found."""
    assert list(judge(case)) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda case: rebooted(case, WORKER), f"duplicated: server {WORKER} had 2 reboots"),
        (without_worker, f"lost: node {WORKER} has no server"),
        (lambda case: with_other(case, WORKER), f"duplicated: there are 2 servers {WORKER}"),
        (lambda case: with_other(case, "else"), "orphaned: server else (other) is only"),
        (lambda case: with_worker(case, status="ERROR"), f"wrong: server {WORKER} is ERROR"),
        (lambda case: with_worker(case, task="rebooting"), f"wrong: server {WORKER} is ACTIVE"),
        (lambda case: with_worker(case, version="v1.29.0"), f"wrong: {WORKER} runs v1.29.0"),
        (lambda case: with_worker(case, addresses=()), f"wrong: {WORKER} has ()"),
        (lambda case: with_worker(case, actions=()), f"lost: server {WORKER} had no reboot"),
        (lambda case: with_known(case, stacks=()), "lost: the cluster has 0 stacks"),
        (
            lambda case: with_known(case, stacks=case.known.stacks * 2),
            "duplicated: the cluster has 2 stacks",
        ),
        (
            lambda case: with_known(
                case, stacks=[Stack(id="s", name="demo", status="UPDATE_FAILED")]
            ),
            "wrong: stack demo is UPDATE_FAILED",
        ),
        (
            lambda case: with_known(
                case, things=[Thing(kind="port", id="p", name="demo-port", known=False)]
            ),
            "orphaned: no stack of the cluster knows port demo-port (p)",
        ),
        (lambda case: with_known(case, trust=False), "lost: the trust"),
    ],
)
def test_what_is_not_right_is_found(change: Change, found: str) -> None:
    """Each kind of damage after a reboot of all nodes is named."""
    findings = list(judge(change(all_rebooted())))
    assert any(finding.startswith(found) for finding in findings), findings


def test_a_reboot_that_nobody_asked_for_is_found() -> None:
    """An operation of another kind reboots nothing."""
    case = rebooted(case_of(K.CHECK_HEALTH), WORKER)
    found = f"duplicated: server {WORKER} had 1 reboots by one operation"
    assert list(judge(case)) == [found]


def test_a_resize_without_effect_is_found() -> None:
    """A record that says well, where no server is new."""
    findings = list(judge(resized_to_three()))
    assert "wrong: 0 servers are new, and 1 should be" in findings


def test_an_upgrade_that_replaced_nothing_is_found() -> None:
    """After an upgrade each server is another one."""
    findings = list(judge(case_of(K.UPGRADE)))
    assert f"lost: server {WORKER} was not replaced" in findings


def test_what_a_deletion_leaves_is_found() -> None:
    """All that carries the cluster's mark is named, and so is its trust."""
    case = case_of(K.DELETE)
    findings = list(judge(replace(case, now=None)))
    assert "orphaned: port demo-port (p)" in findings
    assert "orphaned: its trust" in findings
    assert sum("orphaned: server" in finding for finding in findings) == len(case.known.servers)


def test_the_version_is_read_from_what_a_server_was_set_up_from() -> None:
    """Packed or plain, in any of the files."""
    text = base64.b64encode(gzip.compress(b"A=1\nKUBE_TAG=v1.31.0\n")).decode()
    packed = {"source": f"data:;base64,{text}", "compression": "gzip"}
    files = [{"contents": {"source": "data:,plain"}}, {"contents": packed}]
    document = json.dumps({"storage": {"files": files}})
    assert version_in(base64.b64encode(document.encode()).decode()) == "v1.31.0"
    assert version_in(None) is None
