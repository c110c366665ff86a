"""Operations that are asked for straight from Temporal, on a real server, with the fake driver."""

import asyncio
import json
import re
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError

from jeroboam.models import (
    ClusterSpec,
    OperationKind,
    OperationState,
    Status,
    new_uuid,
)
from jeroboam.models.requested_wire import REQUEST_OPERATION_WORKFLOW
from jeroboam.models.wire import WORKFLOW_OF_KIND
from jeroboam.store import OperationFilter, Page, Scope
from jeroboam.workflows.client import OperationClient
from tests.conftest import CHECKOUT, TEMPORAL, TemporalServer
from tests.integration.engine import Engine, running_engine

QUICK = {f"fake_{what}_seconds": "0.1" for what in ("update", "upgrade", "reboot", "rebuild")}


@pytest.fixture(scope="module")
async def engine(
    temporal_client: Client, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Engine]:
    directory = tmp_path_factory.mktemp("requests")
    async with running_engine(temporal_client, directory) as engine:
        yield engine


async def started(
    engine: Engine, given: Any, workflow: str = REQUEST_OPERATION_WORKFLOW, ident: str = ""
) -> WorkflowHandle[Any, Any]:
    """Start a workflow as anybody does who knows its name."""
    return await engine.client.start_workflow(
        workflow,
        args=given if isinstance(given, tuple) else (given,),
        id=ident or f"by-hand-{new_uuid()}",
        task_queue=engine.settings.task_queue,
    )


async def asked(engine: Engine, spec: ClusterSpec, operation: str, **fields: Any) -> dict[str, str]:
    """Ask for an operation; return what was begun."""
    given = {"operation": operation, "cluster_id": spec.cluster.uuid, **fields}
    handle = await started(engine, given)
    result: dict[str, str] = await asyncio.wait_for(handle.result(), 30)
    return result


async def refused(handle: WorkflowHandle[Any, Any]) -> ApplicationError:
    """Return the error with which a run ends; it may not be tried for ever."""
    with pytest.raises(WorkflowFailureError) as caught:
        await asyncio.wait_for(handle.result(), 20)
    assert isinstance(caught.value.cause, ApplicationError)
    return caught.value.cause


async def records(engine: Engine, spec: ClusterSpec) -> list[str]:
    wanted = OperationFilter(cluster_id=spec.cluster.uuid)
    found = await engine.store.operations.list(Scope(None), Page(limit=100), wanted)
    return [one.uuid for one in found]


async def test_every_operation(engine: Engine) -> None:
    """Each of them is accepted, carried out and recorded for the cluster's owner."""
    spec = await engine.ready(workers=2, labels=QUICK)
    newer = spec.template.model_copy(update={"uuid": new_uuid(), "name": f"new-{new_uuid()}"})
    await engine.store.templates.add(newer)
    wishes: list[tuple[str, dict[str, Any], OperationKind]] = [
        ("resize", {"node_count": 3}, OperationKind.RESIZE),
        ("upgrade", {"cluster_template": newer.name}, OperationKind.UPGRADE),
        ("rebuild", {"batch_size": None}, OperationKind.REBUILD),
        ("reboot", {"type": "soft"}, OperationKind.SOFT_REBOOT),
        ("reboot", {"type": "hard", "node_groups": ["default-worker"]}, OperationKind.HARD_REBOOT),
        ("check_health", {}, OperationKind.CHECK_HEALTH),
        ("delete", {}, OperationKind.DELETE),
    ]
    for name, fields, kind in wishes:
        begun = await asked(engine, spec, name, **fields)
        assert begun["cluster_id"] == spec.cluster.uuid
        assert begun["workflow_id"] == f"cluster/{spec.cluster.uuid}"
        operation = await engine.store.operations.get(begun["operation_id"])
        ended = await engine.ended(operation)
        assert (ended.kind, ended.state) == (kind, OperationState.SUCCEEDED), ended
        assert (ended.user_id, ended.project_id) == (spec.cluster.user_id, spec.cluster.project_id)
        if name == "resize":
            assert (await engine.spec(spec)).workers[0].node_count == 3
    await engine.gone(spec)


BAD: dict[str, tuple[Any, str]] = {
    "nothing": ((), "has to be one JSON object|needs the field 'operation'"),
    "null": (None, "JSON object|needs the field 'operation'"),
    "a text": ("resize", "JSON object|needs the field 'operation'"),
    "a list": ([1], "JSON object|needs the field 'operation'"),
    "two": (({}, {}), "takes 1 input, and was started with 2"),
    "bytes": (b"\x00\xff", "JSON object|needs the field 'operation'"),
    "empty": ({}, "needs the field 'operation', which is one of: resize"),
    "unknown": ({"operation": "dance"}, "needs the field 'operation'"),
    "create": ({"operation": "create", "name": "x"}, "needs the field 'operation'"),
    "no cluster": ({"operation": "delete"}, "lacks the field 'cluster_id'"),
    "a name": ({"operation": "delete", "cluster_id": "mine"}, "'cluster_id' is wrong: 'mine'"),
    "no count": ({"operation": "resize", "cluster_id": "C"}, "lacks the field 'node_count'"),
    "a text as count": (
        {"operation": "resize", "cluster_id": "C", "node_count": "3"},
        "'node_count' is wrong: '3'",
    ),
    "negative": (
        {"operation": "resize", "cluster_id": "C", "node_count": -1},
        "'node_count' is wrong: '-1'",
    ),
    "more": (
        {"operation": "delete", "cluster_id": "C", "force": True},
        "unknown field: 'force'",
    ),
    "how": ({"operation": "reboot", "cluster_id": "C", "type": "gently"}, "'type' is wrong"),
    "no nodes": ({"operation": "rebuild", "cluster_id": "C", "nodes": []}, "'nodes' is wrong"),
    "NUL": (
        {"operation": "rebuild", "cluster_id": "C", "nodes": ["\0"]},
        "must not contain the character NUL",
    ),
    "no such node": (
        {"operation": "rebuild", "cluster_id": "C", "nodes": ["nowhere"]},
        "No such node",
    ),
    "no such group": (
        {"operation": "resize", "cluster_id": "C", "node_count": 1, "nodegroup": "x"},
        "could not be found",
    ),
    "no such template": (
        {"operation": "upgrade", "cluster_id": "C", "cluster_template": "nothing"},
        "could not be found",
    ),
    "no such cluster": (
        {"operation": "check_health", "cluster_id": new_uuid()},
        "could not be found",
    ),
}


@pytest.fixture(scope="module")
async def idle(engine: Engine) -> ClusterSpec:
    return await engine.ready(labels=QUICK)


@pytest.mark.parametrize("name", BAD)
async def test_bad_input(engine: Engine, idle: ClusterSpec, name: str) -> None:
    """The run fails at once and says why; nothing was changed."""
    given, sentence = BAD[name]
    if isinstance(given, dict) and given.get("cluster_id") == "C":
        given = given | {"cluster_id": idle.cluster.uuid}
    before = await records(engine, idle), await engine.cluster(idle)
    error = await refused(await started(engine, given))
    assert re.search(sentence, error.message), error.message
    assert error.non_retryable
    assert (await records(engine, idle), await engine.cluster(idle)) == before


async def test_a_busy_cluster(engine: Engine) -> None:
    """What runs is named; a delete takes over all the same, and a second one joins it."""
    spec = await engine.create(labels={"fake_create_seconds": "60", "fake_delete_seconds": "1"})
    running = await engine.until(spec, lambda cluster: cluster.stack_id is not None)
    given = {"operation": "resize", "cluster_id": spec.cluster.uuid, "node_count": 5}
    error = await refused(await started(engine, given))
    assert error.type == "OperationInProgressError"
    assert str(running.operation_id) in error.message
    first, second = await asked(engine, spec, "delete"), await asked(engine, spec, "delete")
    assert first == second
    await engine.gone(spec)
    ended = await engine.ended(await engine.store.operations.get(first["operation_id"]))
    assert ended.state is OperationState.SUCCEEDED


async def test_a_status_that_forbids_it(engine: Engine) -> None:
    """The state machine is the same as for requests of the API."""
    spec = await engine.create(labels={"fake_fail": "create"})
    assert (await engine.settled(spec)).status is Status.CREATE_FAILED
    given = {"operation": "reboot", "cluster_id": spec.cluster.uuid, "type": "hard"}
    error = await refused(await started(engine, given))
    assert error.type == "ConflictError"
    assert "never complete" in error.message


async def test_many_at_once(engine: Engine) -> None:
    """Of many requests for one cluster one is accepted."""
    spec = await engine.ready(labels=QUICK | {"fake_reboot_seconds": "1"})
    given = {"operation": "reboot", "cluster_id": spec.cluster.uuid, "type": "soft"}
    handles = await asyncio.gather(*(started(engine, given) for _ in range(6)))
    results = await asyncio.gather(*(one.result() for one in handles), return_exceptions=True)
    assert len([one for one in results if isinstance(one, dict)]) == 1
    kept = [await engine.store.operations.get(one) for one in await records(engine, spec)]
    ended = [await engine.ended(one) for one in kept if one.state is not OperationState.REJECTED]
    assert [one.kind for one in ended] == [OperationKind.CREATE, OperationKind.SOFT_REBOOT]
    assert {one.state for one in ended} == {OperationState.SUCCEEDED}


async def test_a_reset_asks_for_nothing_new(engine: Engine, idle: ClusterSpec) -> None:
    """A run that is reset finds the operation that it has asked for; a new start is a new one."""
    given = {"operation": "check_health", "cluster_id": idle.cluster.uuid}
    ident = f"again-{new_uuid()}"
    handle = await started(engine, given, ident=ident)
    first = await handle.result()
    await engine.ended(await engine.store.operations.get(first["operation_id"]))
    before = await records(engine, idle)
    await engine.client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=engine.client.namespace,
            workflow_execution=WorkflowExecution(
                workflow_id=ident, run_id=str(handle.first_execution_run_id)
            ),
            reason="a test",
            workflow_task_finish_event_id=4,
            request_id=new_uuid(),
        )
    )
    again = await asyncio.wait_for(engine.client.get_workflow_handle(ident).result(), 30)
    assert again == first
    assert await records(engine, idle) == before
    new = await (await started(engine, given, ident=ident)).result()
    assert new["operation_id"] != first["operation_id"]
    await engine.ended(await engine.store.operations.get(new["operation_id"]))


async def test_a_worker_that_dies_in_between(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an attempt has stored the next one starts; nothing is stored twice."""
    calls: list[str] = []
    start = OperationClient.start

    async def dies(self: OperationClient, operation: Any) -> None:
        calls.append(operation.uuid)
        if len(calls) == 1:
            raise RuntimeError("the process is gone")
        await start(self, operation)

    async with running_engine(temporal_client, tmp_path) as engine:
        spec = await engine.ready(labels=QUICK)
        monkeypatch.setattr(OperationClient, "start", dies)
        given = {"operation": "reboot", "cluster_id": spec.cluster.uuid, "type": "hard"}
        begun = await asyncio.wait_for((await started(engine, given)).result(), 60)
        assert calls == [begun["operation_id"]] * 2
        ended = await engine.ended(await engine.store.operations.get(begun["operation_id"]))
        assert ended.state is OperationState.SUCCEEDED
        assert len(await records(engine, spec)) == 2


async def test_the_page_s_commands(
    engine: Engine, idle: ClusterSpec, temporal_server: TemporalServer
) -> None:
    """The commands of the page on starting from Temporal do what it says."""
    page = (CHECKOUT / "docs/how-to/start-from-temporal.md").read_text()
    block = re.search(r"```sh\n(.*?)```", page, re.DOTALL)
    assert block
    script = block[1].replace("CLUSTER_UUID", idle.cluster.uuid)
    script = script.replace("--task-queue jeroboam", f"--task-queue {engine.settings.task_queue}")
    script = script.replace("temporal workflow", f"{TEMPORAL} workflow")
    script = script.replace("grow-1", f"grow-{new_uuid()}")
    done = await asyncio.to_thread(
        subprocess.run,
        ["/bin/sh", "-ec", script],
        env={"TEMPORAL_ADDRESS": temporal_server.address, "HOME": str(engine.fakes)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = re.search(r"Result +(\{.*\})", done.stdout)
    assert found, done.stdout
    operation = await engine.store.operations.get(json.loads(found[1])["operation_id"])
    assert (await engine.ended(operation)).state is OperationState.SUCCEEDED
    assert (await engine.spec(idle)).workers[0].node_count == 3


async def test_other_workflows_refuse_politely(engine: Engine, idle: ClusterSpec) -> None:
    """Started by hand they end with a reason, and leave cluster and record as they are."""
    before = await records(engine, idle), await engine.cluster(idle)
    (some,) = before[0][:1]
    request = {"cluster_id": idle.cluster.uuid, "kind": "resize", "request_id": "req-x"}
    garbage: list[Any] = [(), ({}, {}), None, "text", [], {}, {"operation_id": 3}, b"\x00"]
    known = [
        request | {"operation_id": new_uuid()},
        request | {"operation_id": some},
        request | {"operation_id": "x'; DROP TABLE operations"},
    ]
    handles = [
        await started(engine, given, workflow)
        for workflow in (WORKFLOW_OF_KIND[OperationKind.RESIZE], "ScheduledOperation", "CallCoe")
        for given in garbage
    ]
    handles += [
        await started(engine, given, WORKFLOW_OF_KIND[OperationKind.RESIZE]) for given in known
    ]
    for error in await asyncio.gather(*(refused(one) for one in handles)):
        assert error.message
    assert (await records(engine, idle), await engine.cluster(idle)) == before


async def test_a_pending_operation_is_nobody_s_else(engine: Engine, idle: ClusterSpec) -> None:
    """A run by hand for an operation that waits does not take it, and does not fail it."""
    waiting = engine.operation(idle.cluster, OperationKind.CHECK_HEALTH)
    await engine.store.operations.accept(waiting)
    base = {"operation_id": waiting.uuid, "request_id": "req-x"}
    other = await engine.ready(labels=QUICK)
    for given, ident in (
        ({"cluster_id": idle.cluster.uuid, "kind": "check_health"}, ""),
        ({"cluster_id": idle.cluster.uuid, "kind": "resize"}, f"cluster/{idle.cluster.uuid}"),
        ({"cluster_id": other.cluster.uuid, "kind": "check_health"}, ""),
    ):
        workflow = WORKFLOW_OF_KIND[OperationKind(given["kind"])]
        error = await refused(await started(engine, base | given, workflow, ident))
        assert error.type == "OperationEndedError"
    assert (await engine.store.operations.get(waiting.uuid)).state is OperationState.PENDING
    await engine.operations.start(waiting)
    assert (await engine.ended(waiting)).state is OperationState.SUCCEEDED
