"""Administrators declare hooks; nobody else sees them, and a secret never comes out."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from jeroboam.errors import ConflictError
from jeroboam.models import HookPhase, Operation, OperationState, StepState
from jeroboam.models.wire import HookAnswer
from tests.integration.api.conftest import Service, error_of
from tests.integration.api.hooks import ALLOWED, SECRET

WEBHOOK = {
    "name": "approve",
    "source": "webhook",
    "url": f"{ALLOWED}/approve",
    "phases": ["before"],
    "secret": SECRET,
}


async def call(service: Service, method: str, path: str = "/v1/hooks", **kwargs: Any) -> Any:
    """Send a request as an administrator."""
    return await service.call(method, path, token="admin-token", **kwargs)


async def declared(service: Service, **changes: Any) -> dict[str, Any]:
    response = await call(service, "POST", json=WEBHOOK | changes)
    assert response.status_code == 201, response.text
    body: dict[str, Any] = response.json()
    return body


async def refused(service: Service, **changes: Any) -> str:
    body = {key: value for key, value in (WEBHOOK | changes).items() if value is not ...}
    response = await call(service, "POST", json=body)
    assert response.status_code == 400, response.text
    return str(error_of(response)["detail"])


async def test_declaration_comes_back_without_its_secret(service: Service) -> None:
    """A declaration is shown with the values in force, by name and uuid; its secret is not."""
    created = await declared(service, timeout_seconds=7200, on_failure="warn")
    assert created["timeout_seconds"] == 7200
    assert created["on_failure"] == "warn"
    assert created["origin"] == "api"
    assert len(created["operations"]) > 10
    for ident in ("approve", created["uuid"]):
        shown = await call(service, "GET", f"/v1/hooks/{ident}")
        assert shown.json() == created
    listed = await call(service, "GET")
    assert SECRET not in str(created) + shown.text + listed.text
    assert await service.store.hooks.secret(created["uuid"]) == SECRET


async def test_list_shows_all_origins_in_order(service: Service) -> None:
    """The list has what the API and the file declare, and what is installed and not declared."""
    await declared(service, name="third")
    await declared(service, name="second", runs_after=["third"])
    hooks = (await call(service, "GET")).json()["hooks"]
    assert [(hook["name"], hook["origin"], hook["enabled"]) for hook in hooks] == [
        ("audit", "file", False),
        ("third", "api", True),
        ("second", "api", True),
        ("painter", "installed", False),
    ]


@pytest.mark.parametrize("token", ["member-token", "reader-token", "nobody-token"])
async def test_only_administrators(service: Service, token: str) -> None:
    """Members neither see nor change hooks."""
    await declared(service)
    for method, path, body in (
        ("GET", "/v1/hooks", None),
        ("GET", "/v1/hooks/approve", None),
        ("POST", "/v1/hooks", WEBHOOK | {"name": "other"}),
        ("PATCH", "/v1/hooks/approve", {"enabled": False}),
        ("DELETE", "/v1/hooks/approve", None),
    ):
        response = await service.call(method, path, token=token, json=body)
        assert response.status_code == 403, (method, response.text)
    assert (await service.store.hooks.get("approve")).enabled


async def test_commands_are_the_operators(service: Service) -> None:
    """A command cannot be declared by the API, and the answer says where it can."""
    told = await refused(
        service, source="command", argv=["/bin/sh"], url=..., secret=..., name="shell"
    )
    assert "JEROBOAM_HOOKS_FILE" in told


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"url": "https://elsewhere.example.org/"}, "not allowed"),
        ({"url": "https://hooks.example.org/jeroboam-evil"}, "not allowed"),
        ({"url": "https://user:pw@hooks.example.org/jeroboam"}, "user or password"),
        ({"url": "http://hooks.example.org/jeroboam"}, "not allowed"),
        ({"url": "file:///etc/passwd"}, "must begin with"),
        ({"url": ...}, "needs 'url'"),
        ({"secret": ...}, "signing secret"),
        ({"secret": "short"}, "signing secret"),
        ({"phases": ...}, "phases"),
        ({"phases": []}, "phases"),
        ({"phases": ["sometimes"]}, "before"),
        ({"operations": []}, "operations"),
        ({"operations": ["explode"]}, "operations"),
        ({"name": "Bad Name"}, "name"),
        ({"name": "audit"}, "operator's file"),
        ({"scope": "project"}, "scope_id"),
        ({"scope_id": "x"}, "scope_id"),
        ({"scope": "driver", "scope_id": "nope"}, "not installed"),
        ({"scope": "cluster", "scope_id": "nope"}, "could not be found"),
        ({"scope": "template", "scope_id": "nope"}, "could not be found"),
        ({"runs_after": ["ghost"]}, "does not exist"),
        ({"runs_after": ["approve"]}, "circle"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
        ({"timeout_seconds": 10**9}, "timeout_seconds"),
        ({"options": {"text": "a" * 20_000}}, "options"),
        ({"options": {"text": "\0"}}, "options"),
        ({"enabled": "yes"}, "enabled"),
        ({"source": "driver"}, "python, webhook or command"),
        ({"hook": "painter"}, "only the source python"),
        ({"source": "python", "url": ..., "secret": ...}, "not installed"),
        ({"colour": "red"}, "Unknown attribute"),
    ],
)
async def test_bad_declaration(service: Service, changes: dict[str, Any], expected: str) -> None:
    """What cannot work is refused with the reason, and nothing is stored."""
    assert expected in await refused(service, **changes)
    assert await service.store.hooks.list() == []


@pytest.mark.parametrize("secret", [17, ["tell-nobody"], "tell-nobody\0", "tell-nobody\n", ""])
async def test_complaint_does_not_quote_the_secret(service: Service, secret: object) -> None:
    """A secret of the wrong form is refused without being repeated, in answer or log."""
    with capture_logs() as logs:
        told = await refused(service, secret=secret)
    assert "secret" in told
    assert "tell-nobody" not in told + str(logs)


async def test_name_is_taken(service: Service) -> None:
    """Two hooks cannot have one name."""
    await declared(service)
    again = await call(service, "POST", json=WEBHOOK)
    assert again.status_code == 409
    await declared(service, name="other")
    renamed = await call(service, "PATCH", "/v1/hooks/other", json={"name": "approve"})
    assert renamed.status_code == 409


async def test_installed_hook(service: Service) -> None:
    """An installed hook can be declared under other names, within what it has."""
    body = {"name": "reds", "source": "python", "hook": "painter"}
    good = await call(service, "POST", json=body | {"options": {"colour": "red"}})
    assert good.status_code == 201, good.text
    assert good.json()["phases"] == ["before", "after"]
    for changes, expected in (
        ({"options": {"size": 3}}, "Unknown options: size"),
        ({"phases": ["failure"]}, "does not have the phases failure"),
        ({"operations": ["upgrade"]}, "does not have the operations upgrade"),
    ):
        bad = await call(service, "POST", json=body | {"name": "other"} | changes)
        assert bad.status_code == 400
        assert expected in error_of(bad)["detail"]


async def test_change(service: Service) -> None:
    """A change touches what it names; ``null`` returns to the default; the secret stays."""
    created = await declared(service, on_failure="warn", runs_after=["audit"])
    changes = {"enabled": False, "on_failure": None, "phases": ["before", "after"]}
    changed = await call(service, "PATCH", "/v1/hooks/approve", json=changes)
    assert changed.status_code == 200, changed.text
    body = changed.json()
    assert (body["enabled"], body["on_failure"]) == (False, "fail")
    assert body["phases"] == ["before", "after"]
    assert body["runs_after"] == ["audit"]
    assert body["updated_at"]
    assert await service.store.hooks.secret(created["uuid"]) == SECRET
    newer = f"{SECRET} whsec_{'A' * 40}"
    rotated = await call(service, "PATCH", "/v1/hooks/approve", json={"secret": newer})
    assert rotated.status_code == 200
    assert await service.store.hooks.secret(created["uuid"]) == newer


async def test_bad_change(service: Service) -> None:
    """A change that makes a circle, or leaves the allowed targets, changes nothing."""
    await declared(service)
    await declared(service, name="next", runs_after=["approve"])
    for changes in ({"runs_after": ["next"]}, {"url": "https://elsewhere.example.org"}):
        response = await call(service, "PATCH", "/v1/hooks/approve", json=changes)
        assert response.status_code == 400, response.text
    changed = await call(service, "PATCH", "/v1/hooks/approve", json={"source": "python"})
    assert changed.status_code == 400
    assert (await service.store.hooks.get("approve")).url == WEBHOOK["url"]


async def test_removal(service: Service) -> None:
    """A declaration can be removed; what the API does not own cannot."""
    await declared(service)
    assert (await call(service, "DELETE", "/v1/hooks/approve")).status_code == 204
    assert (await call(service, "DELETE", "/v1/hooks/approve")).status_code == 404
    for name in ("audit", "painter"):
        assert (await call(service, "DELETE", f"/v1/hooks/{name}")).status_code == 409
        patched = await call(service, "PATCH", f"/v1/hooks/{name}", json={"enabled": True})
        assert patched.status_code == 409


async def test_scopes_are_resolved(service: Service) -> None:
    """Names of templates and clusters become uuids, so that a later name changes nothing."""
    template = await service.template()
    cluster = await service.cluster(template["uuid"])
    for scope, ident, uuid in (
        ("template", "small", template["uuid"]),
        ("cluster", "mine", cluster),
        ("driver", "fake", "fake"),
        ("project", "any", "any"),
    ):
        hook = await declared(service, name=f"of-{scope}", scope=scope, scope_id=ident)
        assert hook["scope_id"] == uuid


async def test_declared_hooks_are_in_the_plan(service: Service) -> None:
    """A dry run shows the hooks that concern the cluster, and no others."""
    template = await service.template()
    await declared(service)
    await declared(service, name="elsewhere", scope="project", scope_id="another")
    body = {"name": "mine", "cluster_template_id": template["uuid"]}
    planned = await service.call("POST", "/v1/clusters?dry_run=true", json=body)
    assert planned.status_code == 200, planned.text
    assert "approve" in planned.text
    assert "elsewhere" not in planned.text


async def waiting(service: Service, phase: str = "before") -> tuple[Operation, str]:
    """Return an operation with a plan in which a webhook runs, and the path of its answer."""
    await declared(service, phases=[phase])
    cluster = await service.cluster((await service.template())["uuid"])
    (operation,) = [one for one in service.operations.started if one.cluster_id == cluster]
    plan = await service.app.state.dependencies.planner.plan(operation)
    operation = await service.store.operations.keep_plan(operation.uuid, plan)
    (step,) = [step for step in plan.steps if step.hook]
    url = service.app.state.dependencies.hooks.callbacks.url(operation.uuid, step.name)
    return operation, url.removeprefix("http://jeroboam.test")


async def answer(service: Service, path: str, body: object) -> Any:
    return await service.call("POST", path, token=None, version=None, json=body)


async def test_late_answer(service: Service) -> None:
    """The URL that the hook was given is all that an answer needs; it is not logged."""
    operation, path = await waiting(service)
    with capture_logs() as logs:
        yes = await answer(service, path, {"allow": True, "reason": "fine", "labels": {"a": "b"}})
    assert yes.status_code == 204, yes.text
    (given,) = service.operations.answers
    assert (given.ok, given.labels) == (True, {"a": "b"})
    assert given.message == "fine Labels added: a."
    assert path.rpartition("/")[2] not in str(logs)
    no = await answer(service, path, {"allow": False, "reason": "too\nlarge"})
    assert no.status_code == 204
    refusal = service.operations.answers[-1]
    assert (refusal.ok, refusal.message) == (False, "Hook 'approve' refuses: too large")
    assert operation.cluster_name == "mine"


async def test_late_labels_are_checked(service: Service) -> None:
    """Labels of a late answer never replace any, and the driver may refuse them."""
    _, path = await waiting(service)
    bad = await answer(service, path, {"allow": True, "labels": {"fake_create_seconds": "soon"}})
    assert bad.status_code == 400, bad.text
    assert "fake_create_seconds" in error_of(bad)["detail"]
    assert service.operations.answers == []


async def test_labels_after_the_fact(service: Service) -> None:
    """Labels of a hook that does not run before the create are not taken."""
    _, path = await waiting(service, phase="after")
    assert (await answer(service, path, {"allow": True, "labels": {"a": "b"}})).status_code == 204
    assert service.operations.answers[0].labels == {}
    assert "not added" in service.operations.answers[0].message


@pytest.mark.parametrize(
    "body",
    [{}, {"allow": "yes"}, {"allow": 1}, {"allow": True, "labels": {"a": 1}}, [], {"alow": True},
     {"allow": True, "reason": "x" * 5000}],
)  # fmt: skip
async def test_bad_late_answer(service: Service, body: object) -> None:
    """An answer of another form is refused and answers nothing."""
    _, path = await waiting(service)
    assert (await answer(service, path, body)).status_code == 400
    assert service.operations.answers == []


async def test_wrong_url(service: Service) -> None:
    """A wrong operation or token is not found, whatever is wrong."""
    operation, path = await waiting(service)
    head, _, token = path.rpartition("/")
    other = path.replace(operation.uuid, "11111111-1111-4111-8111-111111111111")
    changed = "A" if token[0] != "A" else "B"
    for wrong in (other, f"{head}/{changed}{token[1:]}", f"{head}/x", f"{head}/%C3%A4"):
        response = await answer(service, wrong, {"allow": True})
        assert response.status_code == 404
        assert "Nobody waits" in error_of(response)["detail"]
    assert (await service.call("GET", path, token=None)).status_code == 401
    assert service.operations.answers == []


async def test_nobody_waits(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second answer, when the step is over, is not found either."""
    _, path = await waiting(service)

    async def conflict(operation: Operation, given: HookAnswer) -> None:
        raise ConflictError("Nobody waits for this answer.")

    monkeypatch.setattr(service.operations, "answer_hook", conflict)
    assert (await answer(service, path, {"allow": True})).status_code == 404


async def test_quick_answer(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that overtakes the hook's own "later" is handed over when the run is ready."""
    operation, path = await waiting(service)
    stored = await service.store.operations.get(operation.uuid)
    assert stored.plan
    (step,) = [step for step in stored.plan.steps if step.hook]
    assert step.hook
    assert step.hook.phase is HookPhase.BEFORE
    running = [{"name": step.name, "state": StepState.RUNNING}]
    real = service.store.operations.get

    async def at_work(uuid: str) -> Operation:
        found = await real(uuid)
        return found.model_validate(
            found.model_dump() | {"steps": running, "state": OperationState.RUNNING}
        )

    attempts = []

    async def slow(operation: Operation, given: HookAnswer) -> None:
        attempts.append(given)
        if len(attempts) == 1:
            raise ConflictError("Nobody waits for this answer.")

    monkeypatch.setattr(service.store.operations, "get", at_work)
    monkeypatch.setattr(service.operations, "answer_hook", slow)
    assert (await answer(service, path, {"allow": True})).status_code == 204
    assert len(attempts) == 2
