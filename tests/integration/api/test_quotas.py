"""Quotas and statistics over HTTP, as Magnum has them, and what quotas limit."""

from typing import Any

import pytest

from jeroboam.models.quota import QuotaResource
from tests.integration.api.cloud import OTHER_PROJECT, PROJECT
from tests.integration.api.conftest import BASE, Service, error_of

ADMIN: dict[str, Any] = {"token": "admin-token"}
PATH = f"/v1/quotas/{PROJECT}/Cluster"


async def set_quota(service: Service, **body: Any) -> dict[str, Any]:
    """Set a quota of the tests' project and return it."""
    wanted = {"project_id": PROJECT} | body
    response = await service.call("POST", "/v1/quotas", json=wanted, **ADMIN)
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def test_a_quota_is_set_shown_changed_and_removed(service: Service) -> None:
    """Codes and bodies are Magnum's: 201, 200, 202 with a plain object, 204."""
    made = await set_quota(service, hard_limit=2)
    assert made.pop("created_at")
    assert made == {
        "id": 1,
        "project_id": PROJECT,
        "resource": "Cluster",
        "hard_limit": 2,
        "updated_at": None,
    }
    assert (await service.call("GET", PATH)).json()["hard_limit"] == 2
    body = {"project_id": PROJECT, "resource": "Cluster", "hard_limit": 7}
    changed = await service.call("PATCH", PATH, json=body, **ADMIN)
    assert (changed.status_code, changed.json()["hard_limit"]) == (202, 7)
    assert changed.json()["updated_at"]
    gone = await service.call("DELETE", PATH, **ADMIN)
    assert (gone.status_code, gone.content) == (204, b"")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("DELETE", {}),
        ("PATCH", {"json": {"hard_limit": 1}}),
    ]
    for method, more in calls:
        assert (await service.call(method, PATH, **ADMIN, **more)).status_code == 404


async def test_without_a_quota_the_default_is_shown(service: Service) -> None:
    """The answer has no id and no times; what is not limited is null, and needs asking for."""
    answer = (await service.call("GET", PATH)).json()
    assert answer == {"project_id": PROJECT, "resource": "Cluster", "hard_limit": 3}
    for resource in ("Node", "Core", "Operation"):
        answer = (await service.call("GET", f"/v1/quotas/{PROJECT}/{resource}")).json()
        assert answer == {"project_id": PROJECT, "resource": resource, "hard_limit": None}
    assert (await service.call("GET", f"/v1/quotas/{PROJECT}/Nodes")).status_code == 404


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({}, 400, "project_id. Mandatory field missing"),
        ({"project_id": ""}, 400, "field/attribute project_id"),
        ({"project_id": "p", "hard_limit": -1}, 400, "field/attribute hard_limit"),
        ({"project_id": "p", "hard_limit": 2**31}, 400, "field/attribute hard_limit"),
        ({"project_id": "p", "resource": "Nodes"}, 400, "field/attribute resource"),
        ({"project_id": "p", "colour": "red"}, 400, "Unknown attribute: colour"),
        ({"project_id": "absent"}, 404, "Project absent could not be found"),
        ([], 400, "field/attribute body"),
    ],
)
async def test_what_is_no_quota_is_refused(
    service: Service, body: Any, status: int, message: str
) -> None:
    """Each mistake has its code and is named; nothing is stored."""
    response = await service.call("POST", "/v1/quotas", json=body, **ADMIN)
    assert (response.status_code, message in error_of(response)["detail"]) == (status, True)
    listed = await service.call("GET", "/v1/quotas?all_tenants=True", **ADMIN)
    assert listed.json() == {"quotas": []}


async def test_a_second_quota_is_a_conflict(service: Service) -> None:
    """One project has one quota per resource; zero is a quota, and one is Magnum's default."""
    assert (await set_quota(service))["hard_limit"] == 1
    response = await service.call("POST", "/v1/quotas", json={"project_id": PROJECT}, **ADMIN)
    assert response.status_code == 409
    assert "already exists for resource Cluster" in error_of(response)["detail"]
    assert (await set_quota(service, resource="Node", hard_limit=0))["hard_limit"] == 0


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (PATH, [{"op": "replace", "path": "/hard_limit", "value": 1}]),
        (PATH, {}),
        (PATH, {"hard_limit": None}),
        (PATH, {"hard_limit": 1, "limit": 1}),
    ],
)
async def test_a_change_is_a_plain_object(service: Service, path: str, body: Any) -> None:
    """A JSON patch is refused, and so is a body without a limit."""
    await set_quota(service, hard_limit=2)
    assert (await service.call("PATCH", path, json=body, **ADMIN)).status_code == 400
    assert (await service.call("GET", path)).json()["hard_limit"] == 2


async def test_lists_are_of_the_own_project_or_of_all(service: Service) -> None:
    """``all_tenants`` shows every project's; pages are marked by number and keep the flag."""
    await set_quota(service)
    await set_quota(service, project_id=OTHER_PROJECT)
    own = (await service.call("GET", "/v1/quotas", **ADMIN)).json()
    assert [quota["project_id"] for quota in own["quotas"]] == [PROJECT]
    page = (await service.call("GET", "/v1/quotas?all_tenants=True&limit=1", **ADMIN)).json()
    assert page["next"].startswith(f"{BASE}/v1/quotas?")
    assert "marker=1" in page["next"]
    rest = (await service.call("GET", page["next"], **ADMIN)).json()
    assert [quota["id"] for quota in rest["quotas"]] == [2]
    down = "/v1/quotas?all_tenants=1&sort_key=project_id&sort_dir=desc"
    ordered = (await service.call("GET", down, **ADMIN)).json()
    assert [quota["id"] for quota in ordered["quotas"]] == [2, 1]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("marker=7", 404),
        ("marker=11111111-2222-3333-4444-555555555555", 400),
        (f"marker={10**30}", 400),
        ("marker=-1", 400),
        ("limit=0", 400),
        ("sort_dir=up", 400),
        ("sort_key=uuid", 400),
        ("all_tenants=maybe", 400),
        ("x=1", 400),
    ],
)
async def test_bad_list_arguments(service: Service, query: str, status: int) -> None:
    """A marker is a number here; everything else is as in other lists."""
    assert (await service.call("GET", f"/v1/quotas?{query}", **ADMIN)).status_code == status


async def test_who_may_do_what(service: Service) -> None:
    """Administrators set quotas, and a project may read its own."""
    await set_quota(service)
    for token in ("member-token", "reader-token"):
        assert (await service.call("GET", PATH, token=token)).status_code == 200
        for method, path in (("GET", "/v1/quotas"), ("DELETE", PATH)):
            refused = await service.call(method, path, token=token)
            assert refused.status_code == 403
            assert "Policy doesn't allow quota:" in error_of(refused)["detail"]
        body = {"project_id": PROJECT, "hard_limit": 9}
        for method, path in (("POST", "/v1/quotas"), ("PATCH", PATH)):
            assert (await service.call(method, path, token=token, json=body)).status_code == 403
    assert (await service.call("GET", PATH, token="nobody-token")).status_code == 403
    stranger = await service.call("GET", PATH, token="stranger-token")
    assert (stranger.status_code, error_of(stranger)["title"]) == (403, "Not authorized")


async def test_clusters_are_refused_in_magnum_s_words(service: Service) -> None:
    """A full quota is 403, before anything is looked up or made."""
    template = (await service.template())["uuid"]
    await set_quota(service, hard_limit=0)
    body = {"name": "one", "cluster_template_id": template, "keypair": "absent"}
    response = await service.call("POST", "/v1/clusters", json=body)
    assert response.status_code == 403
    assert error_of(response)["detail"].startswith(
        "Resource limit exceeded: You have reached the maximum clusters per project, 0."
    )
    assert service.trusts.made == 0


async def test_every_change_that_grows_is_bound(service: Service) -> None:
    """Create, resize, patch and node groups count alike, and a dry run says the same."""
    uuid = await service.built(node_count=1)
    await set_quota(service, resource="Node", hard_limit=3)
    template = (await service.template())["uuid"]
    grows: list[tuple[str, str, Any]] = [
        ("POST", f"/v1/clusters/{uuid}/actions/resize", {"node_count": 3}),
        (
            "PATCH",
            f"/v1/clusters/{uuid}",
            [{"op": "replace", "path": "/node_count", "value": 3}],
        ),
        ("POST", f"/v1/clusters/{uuid}/nodegroups", {"name": "more", "node_count": 2}),
        ("POST", "/v1/clusters", {"cluster_template_id": template}),
    ]
    for query in ("", "?dry_run=true"):
        for method, path, body in grows:
            response = await service.call(method, path + query, json=body)
            assert response.status_code == 403, (method, path, query, response.text)
            assert "3 nodes in its clusters; it has 2, and this needs 2 more" in response.text
    fits = await service.act(uuid, "resize", json={"node_count": 2})
    assert fits.status_code == 202


async def test_cores_are_looked_up_in_the_request(service: Service) -> None:
    """The flavors of control plane, workers and node groups count, two CPUs each here."""
    service.limits[QuotaResource.CORE] = 7
    flavors = {"flavor_id": "m1.small", "master_flavor_id": "m1.small"}
    uuid = await service.built(node_count=1, **flavors)
    assert (await service.store.quotas.used(PROJECT))[QuotaResource.CORE] == 4
    body = {"name": "more", "node_count": 2, "flavor_id": "m1.small"}
    refused = await service.call("POST", f"/v1/clusters/{uuid}/nodegroups", json=body)
    assert "7 cores in its clusters; it has 4, and this needs 4 more" in refused.text
    fits = await service.call(
        "POST", f"/v1/clusters/{uuid}/nodegroups", json=body | {"node_count": 1}
    )
    assert fits.status_code == 202


async def test_operations_at_a_time_are_bound(service: Service) -> None:
    """With one at work a second is refused until it has ended; a delete never is."""
    one, two = await service.built(name="one"), await service.built(name="two")
    service.limits[QuotaResource.OPERATION] = 1
    assert (await service.act(one, "resize", json={"node_count": 2})).status_code == 202
    refused = await service.act(two, "reboot", json={"type": "soft"})
    assert refused.status_code == 403
    assert "operations of your project are at work" in error_of(refused)["detail"]
    await service.finish(one)
    assert (await service.act(two, "reboot", json={"type": "soft"})).status_code == 202
    assert (await service.call("DELETE", f"/v1/clusters/{one}")).status_code == 204


async def test_a_retry_needs_room_as_well(service: Service) -> None:
    """What a failed resize wanted may be somebody else's by now."""
    uuid = await service.built(node_count=1)
    assert (await service.act(uuid, "resize", json={"node_count": 3})).status_code == 202
    failed = await service.fail(uuid)
    service.limits[QuotaResource.NODE] = 3
    refused = await service.call("POST", f"/v1/operations/{failed.uuid}/retry")
    assert refused.status_code == 403
    assert "this needs 2 more" in error_of(refused)["detail"]


async def test_stats_count_clusters_and_all_their_nodes(service: Service) -> None:
    """Members see their project; an administrator sees all, or the project that is named."""
    bodies: list[dict[str, Any]] = [{}, {"node_count": 2}]
    for body in bodies:
        await service.cluster((await service.template())["uuid"], **body)
    theirs = (await service.template("stranger-token"))["uuid"]
    await service.cluster(theirs, "stranger-token")
    expected = {
        ("member-token", ""): (2, 5),
        ("member-token", f"?project_id={PROJECT}"): (2, 5),
        ("stranger-token", "?type=cluster"): (1, 2),
        ("admin-token", ""): (3, 7),
        ("admin-token", f"?project_id={OTHER_PROJECT}&type=CLUSTER"): (1, 2),
        ("admin-token", "?project_id=absent"): (0, 0),
    }
    for (token, query), (clusters, nodes) in expected.items():
        found = await service.call("GET", f"/v1/stats{query}", token=token, version=None)
        assert found.json() == {"clusters": clusters, "nodes": nodes}, (token, query)


@pytest.mark.parametrize(
    ("token", "query", "status"),
    [
        ("member-token", f"?project_id={OTHER_PROJECT}", 403),
        ("nobody-token", "", 403),
        ("member-token", "?type=nodes", 400),
        ("admin-token", "?kind=cluster", 400),
    ],
)
async def test_stats_that_are_refused(
    service: Service, token: str, query: str, status: int
) -> None:
    """Another project's numbers are not told, and there is one type."""
    assert (await service.call("GET", f"/v1/stats{query}", token=token)).status_code == status
