"""Who may do what to a cluster and its operations, by project and role."""

from typing import Any

import pytest

from jeroboam.models import new_uuid
from tests.integration.api.conftest import Service, error_of

PATCH = [{"op": "replace", "path": "/node_count", "value": 2}]
HEALTH = [{"op": "replace", "path": "/health_status", "value": "HEALTHY"}]
BOUNDS = [{"op": "replace", "path": "/max_node_count", "value": 9}]

# Method, path below the cluster, body, the rule that a reader lacks.
CHANGES: dict[str, tuple[str, str, Any, str]] = {
    "update": ("PATCH", "", PATCH, "cluster:update"),
    "health": ("PATCH", "", HEALTH, "cluster:update"),
    "delete": ("DELETE", "", None, "cluster:delete"),
    "resize": ("POST", "/actions/resize", {"node_count": 2}, "cluster:resize"),
    "upgrade": ("POST", "/actions/upgrade", {"cluster_template": "small"}, "cluster:upgrade"),
    "rebuild": ("POST", "/actions/rebuild", None, "cluster:rebuild"),
    "reboot": ("POST", "/actions/reboot", {"type": "hard"}, "cluster:reboot"),
    "check": ("POST", "/actions/check_health", None, "cluster:check_health"),
    "add group": ("POST", "/nodegroups", {"name": "big"}, "nodegroup:create"),
    "change group": ("PATCH", "/nodegroups/extra", BOUNDS, "nodegroup:update"),
    "drop group": ("DELETE", "/nodegroups/extra", None, "nodegroup:delete"),
}


async def prepared(service: Service) -> str:
    uuid = await service.built()
    await service.call("POST", f"/v1/clusters/{uuid}/nodegroups", json={"name": "extra"})
    await service.finish(uuid)
    return uuid


async def change(service: Service, uuid: str, name: str, token: str, query: str = "") -> Any:
    method, path, body, _ = CHANGES[name]
    path = f"/v1/clusters/{uuid}{path}{query}"
    return await service.call(method, path, json=body, token=token)


@pytest.mark.parametrize("query", ["", "?dry_run=true"])
@pytest.mark.parametrize("name", CHANGES)
async def test_who_may_change_a_cluster(service: Service, name: str, query: str) -> None:
    """Another project's cluster is not there; readers and guests may not; nothing is written."""
    uuid = await prepared(service)
    before = await service.everything()
    for token, status in (("stranger-token", 404), ("reader-token", 403), ("nobody-token", 403)):
        response = await change(service, uuid, name, token, query)
        assert response.status_code == status, response.text
        if status == 403:
            rule = CHANGES[name][3]
            assert error_of(response)["detail"] == f"Policy doesn't allow {rule} to be performed."
    assert await service.everything() == before


@pytest.mark.parametrize("token", ["colleague-token", "admin-token"])
@pytest.mark.parametrize("name", CHANGES)
async def test_members_and_administrators_may(service: Service, name: str, token: str) -> None:
    """Any member of the project may change its clusters, and an administrator."""
    uuid = await prepared(service)
    assert (await change(service, uuid, name, token)).is_success


@pytest.mark.parametrize("name", CHANGES)
async def test_administrators_may_in_any_project(service: Service, name: str) -> None:
    """An administrator changes a cluster of a foreign project, for which it counts."""
    template = await service.template(token="stranger-token")
    uuid = await service.cluster(template["uuid"], token="stranger-token")
    await service.finish(uuid)
    group = {"name": "extra"}
    path = f"/v1/clusters/{uuid}/nodegroups"
    assert (await service.call("POST", path, json=group, token="stranger-token")).is_success
    await service.finish(uuid)
    assert (await change(service, uuid, name, "admin-token")).is_success
    for operation in await service.store.operations.active(uuid):
        assert operation.project_id != "11111111111111111111111111111111"
        assert operation.user_id == "u6"


@pytest.mark.parametrize(
    ("token", "status"),
    [
        ("member-token", 403),
        ("reader-token", 403),
        ("stranger-token", 404),
        ("admin-token", 204),
    ],
)
async def test_only_administrators_delete_by_force(
    service: Service, token: str, status: int
) -> None:
    """A forced delete passes over hooks that would veto it, so it is not the tenant's."""
    uuid = await service.built()
    response = await service.call("DELETE", f"/v1/clusters/{uuid}?force=true", token=token)
    assert response.status_code == status
    assert len(service.operations.deleted) == (status == 204)


async def test_who_may_read_operations(service: Service) -> None:
    """Readers of the project see its operations; strangers see none, guests may not look."""
    uuid = await prepared(service)
    operation = service.operations.started[-1].uuid
    paths = ["/v1/operations", f"/v1/clusters/{uuid}/operations", f"/v1/operations/{operation}"]
    for token in ("reader-token", "colleague-token", "admin-token"):
        for path in paths:
            response = await service.call("GET", path, token=token)
            assert response.status_code == 200, response.text
    for path in paths:
        assert (await service.call("GET", path, token="nobody-token")).status_code == 403
    for path in paths[1:]:
        assert (await service.call("GET", path, token="stranger-token")).status_code == 404
    listed = await service.call("GET", "/v1/operations", token="stranger-token")
    assert listed.json() == {"operations": []}
    filtered = await service.call("GET", f"/v1/operations?cluster={uuid}", token="stranger-token")
    assert filtered.json() == {"operations": []}


async def test_an_administrator_reads_all_projects_operations(service: Service) -> None:
    """An admin's list has every project's operations."""
    await service.cluster((await service.template())["uuid"])
    foreign = await service.template(token="stranger-token")
    await service.cluster(foreign["uuid"], token="stranger-token")
    listed = await service.call("GET", "/v1/operations", token="admin-token")
    assert len({one["project_id"] for one in listed.json()["operations"]}) == 2
    assert len((await service.call("GET", "/v1/operations")).json()["operations"]) == 1


@pytest.mark.parametrize("verb", ["cancel", "retry", "resume"])
async def test_who_may_step_in(service: Service, verb: str) -> None:
    """Another project's operation is not there, and readers may not touch their own."""
    uuid = await prepared(service)
    await service.act(uuid, "rebuild")
    operation = service.operations.started[-1].uuid
    path = f"/v1/operations/{operation}/{verb}"
    before = await service.everything()
    for token, status in (("stranger-token", 404), ("reader-token", 403), ("nobody-token", 403)):
        response = await service.call("POST", path, token=token)
        assert response.status_code == status
        assert status == 404 or f"operation:{verb}" in response.text
    assert await service.everything() == before
    assert (service.operations.cancelled, service.operations.answers) == ([], [])


async def test_a_caller_without_a_token_gets_nowhere(service: Service) -> None:
    """All the new routes need a token."""
    for method, path in (
        ("GET", "/v1/operations"),
        ("GET", f"/v1/operations/{new_uuid()}"),
        ("POST", f"/v1/operations/{new_uuid()}/cancel"),
        ("POST", "/v1/clusters/x/actions/rebuild"),
        ("PATCH", "/v1/clusters/x"),
    ):
        assert (await service.call(method, path, token=None)).status_code == 401
