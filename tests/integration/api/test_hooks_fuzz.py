"""No declaration of a hook, and no late answer, makes the service fail."""

from typing import Any
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from jeroboam.api.http.schemas.hook import HookCreate, HookPatch, LateAnswer
from tests.integration.api.conftest import Service
from tests.integration.api.test_fuzz import VALUES, bounded, changed
from tests.integration.api.test_hooks import WEBHOOK, answer, call, waiting

PYTHON = {"name": "paint", "source": "python", "hook": "painter"}


async def clear(service: Service) -> None:
    for one in await service.store.hooks.list():
        await service.store.hooks.delete(one.uuid)


@bounded
@given(body=changed(WEBHOOK, HookCreate) | changed(PYTHON, HookCreate) | VALUES)
async def test_any_hook_is_declared_or_refused(service: Service, body: Any) -> None:
    """An odd declaration is the administrator's error at most; what is stored can be listed."""
    await clear(service)
    response = await call(service, "POST", json=body)
    assert response.status_code < 500, response.text
    assert (await call(service, "GET")).status_code == 200


@bounded
@given(changes=changed({}, HookPatch) | VALUES)
async def test_any_hook_is_changed_or_refused(service: Service, changes: Any) -> None:
    """An odd change is the administrator's error at most."""
    await clear(service)
    assert (await call(service, "POST", json=WEBHOOK)).status_code == 201
    response = await call(service, "PATCH", "/v1/hooks/approve", json=changes)
    assert response.status_code < 500, response.text
    assert (await call(service, "GET")).status_code == 200


@bounded
@given(body=changed({"allow": True}, LateAnswer) | VALUES, token=st.text(max_size=5))
async def test_any_late_answer_is_taken_or_refused(service: Service, body: Any, token: str) -> None:
    """An odd late answer is the hook's error at most."""
    if not service.operations.started:
        await waiting(service)
    operation = await service.store.operations.get(service.operations.started[0].uuid)
    assert operation.plan
    (step,) = [step for step in operation.plan.steps if step.hook]
    url = service.app.state.dependencies.hooks.callbacks.url(operation.uuid, step.name)
    right = url.removeprefix("http://jeroboam.test")
    for path in (right, f"{right.rpartition('/')[0]}/x{quote(token, safe='')}"):
        response = await answer(service, path, body)
        assert response.status_code < 500, response.text
