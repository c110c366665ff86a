"""``?dry_run=true``: what would happen, and nothing is written."""

from typing import Any

import pytest

from tests.integration.api.conftest import Service, error_of

NEW_SIZE = [{"op": "replace", "path": "/node_count", "value": 3}]
HEALTH = [{"op": "replace", "path": "/health_status", "value": "HEALTHY"}]
BOUNDS = [{"op": "replace", "path": "/max_node_count", "value": 9}]

CALLS: dict[str, tuple[str, str, Any, str, str | None]] = {
    "create": (
        "POST",
        "",
        {"name": "new", "cluster_template_id": "twin", "node_count": 2},
        "Submit to the backend",
        "default-worker.node_count",
    ),
    "update": ("PATCH", "/mine", NEW_SIZE, "from 1 to 3", "default-worker.node_count"),
    "resize": (
        "POST",
        "/mine/actions/resize",
        {"node_count": 3},
        "from 1 to 3",
        "default-worker.node_count",
    ),
    "upgrade": (
        "POST",
        "/mine/actions/upgrade",
        {"cluster_template": "new"},
        "Upgrade default-master",
        "cluster_template",
    ),
    "rebuild": ("POST", "/mine/actions/rebuild", None, "Rebuild mine-default-master-0", None),
    "reboot": ("POST", "/mine/actions/reboot", {"type": "soft"}, "reboot mine-default", None),
    "check": ("POST", "/mine/actions/check_health", None, "Check the health", None),
    "delete": ("DELETE", "/mine", None, "Submit the removal", "cluster"),
    "add group": ("POST", "/mine/nodegroups", {"name": "big"}, "Build node group big", "big"),
    "change group": (
        "PATCH",
        "/mine/nodegroups/extra",
        BOUNDS,
        "",
        "extra.max_node_count",
    ),
    "drop group": ("DELETE", "/mine/nodegroups/extra", None, "Remove node group extra", "extra"),
}


async def prepared(service: Service) -> None:
    await service.template(name="new", labels={"fake_version": "v1.31.0"})
    await service.template(name="twin", image_id="twin-image", driver="first_twin")
    uuid = await service.built()
    await service.call("POST", f"/v1/clusters/{uuid}/nodegroups", json={"name": "extra"})
    await service.finish(uuid)


@pytest.mark.parametrize("name", CALLS)
async def test_a_dry_run_shows_the_plan_and_touches_nothing(service: Service, name: str) -> None:
    """Steps, hooks, deadline and changes are told; no row, trust or run comes of it."""
    method, path, body, step, change = CALLS[name]
    await prepared(service)
    before, trusts = await service.everything(), service.trusts.made
    started = len(service.operations.started)
    response = await service.call(method, f"/v1/clusters{path}?dry_run=true", json=body)
    assert response.status_code == 200, response.text
    answer = response.json()
    assert answer.keys() == {"dry_run", "plan", "changes"}
    assert answer["dry_run"] is True
    plan = answer["plan"]
    assert plan.keys() == {
        *("driver", "driver_version", "deadline_seconds", "rollback", "steps", "hooks")
    }
    assert plan["deadline_seconds"] > 0
    assert any(step.lower() in one["name"].lower() for one in plan["steps"]) or not step
    assert change is None or change in answer["changes"]
    assert "jeroboam-operation" not in response.headers
    assert await service.everything() == before
    assert service.trusts.made == trusts
    assert len(service.operations.started) == started
    assert service.operations.deleted == []


@pytest.mark.parametrize("name", CALLS)
async def test_the_plan_is_the_one_that_is_carried_out(service: Service, name: str) -> None:
    """The run of the real request makes the same plan."""
    method, path, body, _, _ = CALLS[name]
    await prepared(service)
    dry = (await service.call(method, f"/v1/clusters{path}?dry_run=true", json=body)).json()
    response = await service.call(method, f"/v1/clusters{path}", json=body)
    assert response.is_success, response.text
    operation = await service.store.operations.get(response.headers["jeroboam-operation"])
    plan = await service.app.state.dependencies.planner.plan(operation)
    assert [step.name for step in plan.steps] == [step["name"] for step in dry["plan"]["steps"]]
    assert plan.changes == dry["changes"]
    assert plan.rollback is dry["plan"]["rollback"] is operation.rollback


async def test_a_report_of_health_needs_no_plan(service: Service) -> None:
    """A dry run of a health report has no plan, and tells the change."""
    await prepared(service)
    before = await service.everything()
    response = await service.call("PATCH", "/v1/clusters/mine?dry_run=true", json=HEALTH)
    assert response.json() == {
        "dry_run": True,
        "plan": None,
        "changes": {"health_status": "None -> HEALTHY"},
    }
    both = await service.call("PATCH", "/v1/clusters/mine?dry_run=1", json=HEALTH + NEW_SIZE)
    assert both.json()["changes"].keys() == {"health_status", "default-worker.node_count"}
    nothing = await service.call("PATCH", "/v1/clusters/mine?dry_run=true", json=[])
    assert (nothing.json()["plan"], nothing.json()["changes"]) == (None, {})
    assert await service.everything() == before


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "", {"cluster_template_id": "absent"}, 404),
        ("POST", "", {"cluster_template_id": "twin", "flavor_id": "absent"}, 400),
        ("POST", "/mine/actions/resize", {"node_count": -1}, 400),
        ("POST", "/mine/actions/upgrade", {"cluster_template": "far"}, 400),
        ("POST", "/mine/nodegroups", {"name": "extra"}, 409),
        ("DELETE", "/mine/nodegroups/default-worker", None, 400),
        ("DELETE", "/absent", None, 404),
    ],
)
async def test_a_dry_run_has_all_the_errors(
    service: Service, method: str, path: str, body: Any, status: int
) -> None:
    """What would be refused is refused, with the same words."""
    await prepared(service)
    await service.template(name="far", labels={"fake_version": "v1.99.0"})
    dry = await service.call(method, f"/v1/clusters{path}?dry_run=true", json=body)
    real = await service.call(method, f"/v1/clusters{path}", json=body)
    assert dry.status_code == real.status_code == status, dry.text
    assert error_of(dry)["detail"] == error_of(real)["detail"]


async def test_a_dry_run_counts_the_quota_and_asks_for_the_right(service: Service) -> None:
    """Quota and policy are checked as for the real request."""
    await prepared(service)
    body = {"cluster_template_id": "twin"}
    path = "/v1/clusters?dry_run=true"
    reader = await service.call("POST", path, json=body, token="reader-token")
    assert reader.status_code == 403
    for _ in range(2):
        assert (await service.call("POST", "/v1/clusters", json=body)).is_success
    assert (await service.call("POST", path, json=body)).status_code == 403
    force = await service.call("DELETE", "/v1/clusters/mine?force=true&dry_run=true")
    assert force.status_code == 403


async def test_a_dry_run_of_a_delete_by_force_shows_what_may_fail(service: Service) -> None:
    """Its steps are passed over when they fail."""
    await prepared(service)
    response = await service.call(
        "DELETE", "/v1/clusters/mine?force=true&dry_run=true", token="admin-token"
    )
    assert {step["on_failure"] for step in response.json()["plan"]["steps"]} == {"warn"}


@pytest.mark.parametrize("value", ["perhaps", "", "2"])
async def test_an_odd_value_is_no_dry_run_and_no_request(service: Service, value: str) -> None:
    """A typing error must not turn a dry run into the real thing."""
    await prepared(service)
    before = await service.everything()
    response = await service.call("DELETE", f"/v1/clusters/mine?dry_run={value}")
    assert response.status_code == 400
    assert await service.everything() == before
