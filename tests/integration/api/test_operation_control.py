"""Operations are cancelled, retried and resumed over HTTP."""

from typing import Any

import pytest

from jeroboam.models import (
    Action,
    HookCall,
    HookPhase,
    HookSource,
    Operation,
    OperationState,
    Plan,
    PlanStep,
    Status,
    StepRecord,
    StepState,
    new_uuid,
)
from tests.integration.api.conftest import Service, error_of


async def control(service: Service, uuid: str, verb: str, **kwargs: Any) -> Any:
    return await service.call("POST", f"/v1/operations/{uuid}/{verb}", **kwargs)


async def rebuilding(service: Service) -> Operation:
    await service.act(await service.built(), "rebuild")
    return service.operations.started[-1]


async def waiting_for_approval(service: Service) -> Operation:
    """Return an operation whose hook will answer later."""
    operation = await rebuilding(service)
    plan: Plan = await service.app.state.dependencies.planner.plan(operation)
    call = HookCall(phase=HookPhase.BEFORE, source=HookSource.WEBHOOK, name="approval")
    step = PlanStep(name="Before rebuild: hook approval", action=Action.RUN_HOOK, hook=call)
    plan = plan.model_copy(update={"steps": (step, *plan.steps)})
    await service.store.operations.keep_plan(operation.uuid, plan)
    await service.apply(operation, steps=(StepRecord(name=step.name, state=StepState.RUNNING),))
    return operation


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (None, "Cancelled by user u2."),
        ({}, "Cancelled by user u2."),
        ({"reason": "wrong cluster"}, "Cancelled by user u2: wrong cluster."),
    ],
)
async def test_a_cancellation_says_what_will_happen(
    service: Service, body: Any, reason: str
) -> None:
    """A colleague may cancel; the answer says what the kind of operation does."""
    operation = await rebuilding(service)
    response = await control(service, operation.uuid, "cancel", json=body, token="colleague-token")
    assert response.status_code == 202
    assert response.json() == {
        "uuid": operation.cluster_id,
        "operation_id": operation.uuid,
        "message": "The nodes at work are finished; no further ones are begun. If they do not "
        "end, cancel again with --now (in the API: now).",
    }
    assert response.headers["jeroboam-operation"] == operation.uuid
    assert service.operations.cancelled == [(operation.uuid, reason)]


async def test_a_cancellation_need_not_wait(service: Service) -> None:
    """With ``now`` the answer says that the nodes at work are left alone, and so does a look."""
    operation = await rebuilding(service)
    shown = (await service.call("GET", f"/v1/operations/{operation.uuid}")).json()["cancel"]
    response = await control(service, operation.uuid, "cancel", json={"now": True, "reason": "x"})
    assert response.status_code == 202
    assert "not waited for" in response.json()["message"] == shown["message_now"]
    assert service.operations.cancelled == [(operation.uuid, "Cancelled at once by user u1: x.")]


@pytest.mark.parametrize("odd", ["true", 1, None, [True], {}])
async def test_now_is_true_or_false(service: Service, odd: Any) -> None:
    """Anything else is refused, so that nobody cancels otherwise than meant."""
    operation = await rebuilding(service)
    response = await control(service, operation.uuid, "cancel", json={"now": odd})
    assert (response.status_code, "now" in response.text) == (400, True)
    assert service.operations.cancelled == []


async def test_what_has_ended_cannot_be_cancelled(service: Service) -> None:
    """The refusal is a conflict with the reason."""
    operation = await rebuilding(service)
    await service.finish(operation.cluster_id)
    response = await control(service, operation.uuid, "cancel")
    assert response.status_code == 409
    assert "has ended already (SUCCEEDED)" in error_of(response)["detail"]


@pytest.mark.parametrize(
    ("verb", "state"),
    [
        ("retry", OperationState.FAILED),
        ("retry", OperationState.CANCELLED),
        ("resume", OperationState.CANCELLED),
    ],
)
async def test_an_operation_is_taken_up_where_it_stopped(
    service: Service, verb: str, state: OperationState
) -> None:
    """The same record goes on with the same input; what nobody saw the end of is done again."""
    operation = await rebuilding(service)
    plan = await service.app.state.dependencies.planner.plan(operation)
    await service.store.operations.keep_plan(operation.uuid, plan)
    names = [step.name for step in plan.steps]
    states = (StepState.SUCCEEDED, StepState.SUCCEEDED, StepState.SUCCEEDED, StepState.FAILED)
    steps = tuple(StepRecord(name=n, state=s) for n, s in zip(names, states, strict=False))
    await service.apply(
        operation, state=state, cluster_status=Status.UPDATE_FAILED, steps=steps, reason="x"
    )
    response = await control(service, operation.uuid, verb)
    assert response.status_code == 202, response.text
    assert f"goes on after its step '{names[1]}'" in response.json()["message"]
    stored = await service.store.operations.get(operation.uuid)
    assert (stored.state, stored.reason) == (OperationState.PENDING, None)
    assert stored.parameters == operation.parameters
    assert [step.state.done for step in stored.steps] == [True, True, *[False] * (len(names) - 2)]
    assert service.operations.started[-1].uuid == operation.uuid
    cluster = (await service.store.clusters.spec(operation.cluster_id)).cluster
    assert cluster.status is Status.UPDATE_IN_PROGRESS


@pytest.mark.parametrize("began", [True, False])
async def test_after_a_roll_back_it_begins_anew(service: Service, began: bool) -> None:
    """What was undone must be done again, and the answer says so."""
    operation = await rebuilding(service)
    steps = (
        StepRecord(name="one", state=StepState.SUCCEEDED),
        StepRecord(name="back", state=StepState.SUCCEEDED, undoes=True),
    )
    await service.apply(
        operation, state=OperationState.FAILED, steps=steps if began else (), undone=began
    )
    response = await control(service, operation.uuid, "retry")
    assert response.json()["message"].startswith("The operation begins at its first step")


async def test_what_cannot_be_retried_says_why(service: Service) -> None:
    """One at work, one that succeeded, and one that a later one has overtaken are conflicts."""
    operation = await rebuilding(service)
    response = await control(service, operation.uuid, "retry")
    assert (response.status_code, "only one that failed" in response.text) == (409, True)
    await service.fail(operation.cluster_id)
    await service.act(operation.cluster_id, "reboot", json={"type": "soft"})
    response = await control(service, operation.uuid, "retry")
    assert response.status_code == 409
    assert error_of(response)["operation"]["kind"] == "soft_reboot"
    await service.finish(operation.cluster_id)
    response = await control(service, operation.uuid, "retry")
    assert (response.status_code, "later operation" in response.text) == (409, True)


async def test_a_health_check_in_between_does_no_harm(service: Service) -> None:
    """It changes nothing, so the failed operation can still be retried."""
    operation = await rebuilding(service)
    await service.fail(operation.cluster_id)
    await service.act(operation.cluster_id, "check_health")
    await service.finish(operation.cluster_id)
    assert (await control(service, operation.uuid, "retry")).status_code == 202


async def test_a_retry_needs_the_right_to_begin_such_an_operation(service: Service) -> None:
    """A tenant cannot repeat a removal by force that only an administrator may begin."""
    uuid = await service.built()
    await service.call("DELETE", f"/v1/clusters/{uuid}?force=true", token="admin-token")
    (operation,) = service.operations.deleted
    await service.apply(operation, state=OperationState.FAILED, cluster_status=Status.DELETE_FAILED)
    for verb in ("retry",):
        response = await control(service, operation.uuid, verb)
        assert (response.status_code, "cluster:force_delete" in response.text) == (403, True)
    assert (await control(service, operation.uuid, "retry", token="admin-token")).is_success


@pytest.mark.parametrize(("approve", "message"), [(True, "goes on"), (False, "fails")])
async def test_an_administrator_answers_for_a_hook(
    service: Service, approve: bool, message: str
) -> None:
    """An operation that waits for an approval is resumed with the answer."""
    operation = await waiting_for_approval(service)
    body = {"approve": approve, "message": "asked the owner"}
    response = await control(service, operation.uuid, "resume", json=body, token="admin-token")
    assert response.status_code == 202
    assert response.json()["message"].endswith(f"the operation {message}.")
    (answer,) = service.operations.answers
    assert (answer.step, answer.ok) == ("Before rebuild: hook approval", approve)
    assert answer.message == "asked the owner"


async def test_a_tenant_cannot_answer_for_a_hook(service: Service) -> None:
    """Otherwise an approval would be worth nothing."""
    operation = await waiting_for_approval(service)
    response = await control(service, operation.uuid, "resume")
    assert (response.status_code, "operation:approve" in response.text) == (403, True)
    assert service.operations.answers == []


async def test_what_cannot_be_resumed_says_why(service: Service) -> None:
    """One at work, one that failed and one that succeeded are conflicts, each with its words."""
    operation = await rebuilding(service)
    response = await control(service, operation.uuid, "resume", token="admin-token")
    assert (response.status_code, "does not wait for an answer" in response.text) == (409, True)
    await service.fail(operation.cluster_id)
    response = await control(service, operation.uuid, "resume")
    assert (response.status_code, "retry it" in response.text) == (409, True)
    await control(service, operation.uuid, "retry")
    await service.finish(operation.cluster_id)
    response = await control(service, operation.uuid, "resume")
    assert (response.status_code, "has ended (SUCCEEDED)" in response.text) == (409, True)


@pytest.mark.parametrize("verb", ["cancel", "retry", "resume"])
async def test_unknown_operations_and_odd_bodies(service: Service, verb: str) -> None:
    """An operation that is not there is 404, an argument or attribute too many 400."""
    assert (await control(service, new_uuid(), verb)).status_code == 404
    operation = await rebuilding(service)
    response = await service.call("POST", f"/v1/operations/{operation.uuid}/{verb}?dry_run=true")
    assert response.status_code == 400
    if verb != "retry":
        odd = await control(service, operation.uuid, verb, json={"colour": "red"})
        assert odd.status_code == 400
