"""``jeroboam operation`` against the API."""

import json
from typing import Any

import pytest
import yaml

from jeroboam.models import OperationState, Status, StepNote, StepState
from tests.integration.api.conftest import Service
from tests.integration.api.test_operation_control import waiting_for_approval
from tests.integration.cli.clusters import created, creating, latest, step, write
from tests.integration.cli.conftest import CommandLine


async def listed(cli: CommandLine, *arguments: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(
        await cli.ok("operation", "list", "-f", "json", *arguments)
    )
    return rows


async def test_a_list_of_many_pages(service: Service, cli: CommandLine) -> None:
    """All operations are listed, newest first, though a page of the service has five."""
    operation = await created(service)
    for _ in range(7):
        await service.call("POST", f"/v1/clusters/{operation.cluster_id}/actions/check_health")
        await write(
            service,
            await latest(service, operation.cluster_id),
            1,
            state=OperationState.SUCCEEDED,
        )
    rows = await listed(cli)
    assert [row["kind"] for row in rows] == ["check_health"] * 7 + ["create"]
    assert len({row["uuid"] for row in rows}) == 8
    assert [row["kind"] for row in await listed(cli, "--limit", "6")] == ["check_health"] * 6


async def test_filters(service: Service, cli: CommandLine) -> None:
    """A list can be narrowed by cluster, kind, state and time, each kind or state repeated."""
    await created(service, "first")
    await creating(service, "second")
    assert {row["cluster_name"] for row in await listed(cli)} == {"first", "second"}
    (row,) = await listed(cli, "--cluster", "first")
    assert (row["cluster_name"], row["state"]) == ("first", "SUCCEEDED")
    (row,) = await listed(cli, "--state", "pending", "--state", "running")
    assert row["cluster_name"] == "second"
    assert await listed(cli, "--kind", "soft-reboot", "--kind", "rebuild") == []
    assert len(await listed(cli, "--kind", "create", "--since", "1h")) == 2
    assert await listed(cli, "--since", "2999-01-01") == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--kind", "explode"), "Unknown kind 'explode'. There are: create"),
        (("--state", "odd"), "Unknown state 'odd'. There are: PENDING"),
        (("--since", "soon"), "'soon' is no time."),
        (("--cluster", "absent"), "absent"),
        (("-c", "colour"), "No such column: colour. There are: uuid, kind"),
    ],
)
async def test_filters_that_are_wrong(
    cli: CommandLine, arguments: tuple[str, ...], words: str
) -> None:
    """A filter that cannot be understood is refused with what could."""
    assert words in await cli.refused("operation", "list", *arguments)


async def test_show_for_people(service: Service, cli: CommandLine) -> None:
    """The fields, and below them the steps with state, attempts and the last error."""
    operation = await creating(service)
    running = step("Wait for the backend", StepState.RUNNING)
    await write(service, operation, 1, steps=(running,))
    note = {"attempt": 3, "message": "Heat does not answer: [connection] refused"}
    await service.store.operations.note(
        StepNote(operation_id=operation.uuid, step=running.name, **note)
    )
    shown = await cli.ok("operation", "show", operation.uuid)
    assert operation.uuid in shown
    (line,) = [line for line in shown.splitlines() if "Wait for the backend" in line]
    assert [part.strip() for part in line.strip("|").split("|")][:3] == [
        "Wait for the backend",
        "RUNNING",
        "3",
    ]
    assert "Heat does not answer: [connection] refused" in line


async def test_show_for_programs(service: Service, cli: CommandLine) -> None:
    """JSON and YAML are the whole record of the API; columns choose fields of it."""
    operation = await created(service)
    as_json = json.loads(await cli.ok("operation", "show", operation.uuid, "-f", "json"))
    as_yaml = yaml.safe_load(await cli.ok("operation", "show", operation.uuid, "-f", "yaml"))
    response = await service.call("GET", f"/v1/operations/{operation.uuid}")
    assert as_json.keys() == response.json().keys()
    assert as_json["steps"] == as_yaml["steps"] == response.json()["steps"]
    state = await cli.ok("operation", "show", operation.uuid, "-f", "value", "-c", "state")
    assert state == "SUCCEEDED\n"


async def test_only_operators_see_the_run(service: Service, cli: CommandLine) -> None:
    """The link to the Temporal UI is in what an admin sees."""
    operation = await created(service)
    assert "temporal" not in await cli.ok("operation", "show", operation.uuid)
    shown = await cli.ok("operation", "show", operation.uuid, "--os-cloud", "admin")
    assert f"cluster%2F{operation.cluster_id}/run-1/history" in shown


async def test_an_operation_that_is_not_there(cli: CommandLine) -> None:
    """A uuid that nobody has is one line."""
    for verb in ("show", "watch", "cancel", "retry", "resume"):
        said = await cli.refused("operation", verb, "7c1b2a00-0000-4000-8000-000000000000")
        assert "could not be found" in said


async def test_cancel_says_what_it_does(service: Service, cli: CommandLine) -> None:
    """Where nobody can be asked, the refusal says what would happen, and nothing does."""
    operation = await creating(service)
    said = await cli.refused("operation", "cancel", operation.uuid)
    assert "what was done is rolled back. Cancel create of demo?" in said
    assert "--yes" in said
    assert service.operations.cancelled == []


async def test_cancel(service: Service, cli: CommandLine) -> None:
    """With --yes it is done, with the reason on record, and the words say what happens."""
    operation = await creating(service)
    said = await cli.ok("operation", "cancel", operation.uuid, "--yes", "--reason", "wrong size")
    assert said == "The step at work is stopped and what was done is rolled back.\n"
    ((uuid, reason),) = service.operations.cancelled
    assert uuid == operation.uuid
    assert reason.endswith(": wrong size.")


async def test_cancel_without_waiting(service: Service, cli: CommandLine) -> None:
    """The answer to a cancellation that waits names --now, which is asked about in other words."""
    operation = await created(service)
    await service.call(
        "POST", f"/v1/clusters/{operation.cluster_id}/actions/reboot", json={"type": "soft"}
    )
    reboot = await latest(service, operation.cluster_id)
    asked = await cli.refused("operation", "cancel", reboot.uuid, "--now")
    assert "not waited for" in asked
    assert "Cancel soft reboot of demo?" in asked
    assert "--now" in await cli.ok("operation", "cancel", reboot.uuid, "--yes")
    said = await cli.ok("operation", "cancel", reboot.uuid, "--yes", "--now")
    assert said == "The nodes at work are not waited for and may go on; no others are begun.\n"
    assert "at once" in service.operations.cancelled[-1][1]


async def test_cancel_what_has_ended(service: Service, cli: CommandLine) -> None:
    """What has ended is refused without a question."""
    operation = await created(service)
    said = await cli.refused("operation", "cancel", operation.uuid)
    assert said == "The operation has ended already (SUCCEEDED)."


async def test_retry(service: Service, cli: CommandLine) -> None:
    """A failed operation is taken up again, and the words say where."""
    operation = await creating(service)
    await write(
        service,
        operation,
        1,
        state=OperationState.FAILED,
        cluster_status=Status.CREATE_FAILED,
        steps=(
            step("Issue certificates", StepState.SUCCEEDED),
            step("Submit to the backend", StepState.FAILED, error="No valid host"),
        ),
    )
    said = await cli.ok("operation", "retry", operation.uuid)
    assert "with the same input" in said
    assert f"jeroboam operation watch {operation.uuid}" in said
    assert service.operations.started[-1].uuid == operation.uuid


async def test_resume_what_does_not_wait(service: Service, cli: CommandLine) -> None:
    """An operation that waits for nobody is refused."""
    operation = await creating(service)
    said = await cli.refused("operation", "resume", operation.uuid, "--reject")
    assert "does not wait for an answer" in said


@pytest.mark.parametrize(
    ("option", "ok", "words"), [("--approve", True, "goes on"), ("--reject", False, "fails")]
)
async def test_resume_answers_for_a_hook(
    service: Service, cli: CommandLine, option: str, words: str, *, ok: bool
) -> None:
    """An administrator answers for the hook that an operation waits for; nobody else may."""
    operation = await waiting_for_approval(service)
    answer = ("operation", "resume", operation.uuid, option, "--message", "by phone")
    assert "operation:approve" in await cli.refused(*answer)
    said = await cli.ok(*answer, "--os-cloud", "admin")
    assert f"the operation {words}" in said
    (given,) = service.operations.answers
    assert (given.ok, given.message) == (ok, "by phone")


async def test_resume_what_was_cancelled(service: Service, cli: CommandLine) -> None:
    """A cancelled operation is resumed by whoever may begin such a one."""
    operation = await creating(service)
    cancelled = {"state": OperationState.CANCELLED, "cluster_status": Status.CREATE_FAILED}
    await write(service, operation, 1, **cancelled)
    said = await cli.ok("operation", "resume", operation.uuid)
    assert f"jeroboam operation watch {operation.uuid}" in said
    assert service.operations.started[-1].uuid == operation.uuid


async def test_json_of_what_was_taken_up(service: Service, cli: CommandLine) -> None:
    """A program reads the operation's uuid and what will happen."""
    operation = await creating(service)
    failed = {"state": OperationState.FAILED, "cluster_status": Status.CREATE_FAILED}
    await write(service, operation, 1, **failed)
    said = json.loads(await cli.ok("operation", "retry", operation.uuid, "-f", "json"))
    assert said["operation_id"] == operation.uuid
    assert said["message"]
