"""Who sees which clusters, and what hangs on them."""

from tests.integration.api.conftest import BASE, Service


async def test_projects_do_not_see_each_other_s_clusters(service: Service) -> None:
    """Another project's cluster and its groups are 404; a colleague and an admin see them."""
    template = await service.template()
    uuid = await service.cluster(template["uuid"])
    paths = [f"/v1/clusters/{uuid}", f"/v1/clusters/{uuid}/nodegroups"]
    for path in (*paths, f"{paths[1]}/default-worker"):
        assert (await service.call("GET", path, token="stranger-token")).status_code == 404
        for token in ("colleague-token", "reader-token", "admin-token"):
            assert (await service.call("GET", path, token=token)).status_code == 200
    response = await service.call("DELETE", paths[0], token="stranger-token")
    assert response.status_code == 404
    for path in ("/v1/clusters", "/v1/clusters/detail"):
        listed = await service.call("GET", path, token="stranger-token")
        assert listed.json() == {"clusters": []}
    assert service.operations.deleted == []


async def test_roles_are_respected(service: Service) -> None:
    """Readers cannot create or delete, guests cannot even read; the rule is named."""
    template = await service.template()
    uuid = await service.cluster(template["uuid"])
    body = {"cluster_template_id": template["uuid"]}
    response = await service.call("POST", "/v1/clusters", token="reader-token", json=body)
    assert (response.status_code, "cluster:create" in response.text) == (403, True)
    response = await service.call("DELETE", f"/v1/clusters/{uuid}", token="reader-token")
    assert (response.status_code, "cluster:delete" in response.text) == (403, True)
    for path in (
        "/v1/clusters",
        "/v1/clusters/detail",
        f"/v1/clusters/{uuid}",
        f"/v1/clusters/{uuid}/nodegroups",
        f"/v1/clusters/{uuid}/nodegroups/default-master",
    ):
        assert (await service.call("GET", path, token="nobody-token")).status_code == 403


async def test_an_administrator_sees_all_projects(service: Service) -> None:
    """An admin's lists have every project's clusters, as in Magnum."""
    await service.cluster((await service.template())["uuid"])
    foreign = await service.template(token="stranger-token")
    await service.cluster(foreign["uuid"], token="stranger-token")
    listed = await service.call("GET", "/v1/clusters", token="admin-token")
    assert len(listed.json()["clusters"]) == 2


async def test_an_ambiguous_name_is_a_conflict(service: Service) -> None:
    """Names are not unique; the uuid is asked for."""
    template = await service.template()
    await service.cluster(template["uuid"])
    await service.cluster(template["uuid"])
    for method in ("GET", "DELETE"):
        assert (await service.call(method, "/v1/clusters/mine")).status_code == 409


async def test_node_groups_are_listed_and_shown(service: Service) -> None:
    """The list is short and can be narrowed to a role; one group has all fields."""
    template = await service.template(labels={"a": "1"})
    uuid = await service.cluster(template["uuid"], labels={"min_node_count": "1"})
    path = f"/v1/clusters/{uuid}/nodegroups"
    both = (await service.call("GET", f"{path}/")).json()["nodegroups"]
    assert [group["name"] for group in both] == ["default-master", "default-worker"]
    assert both[0].keys() == {
        *("uuid", "name", "flavor_id", "image_id", "node_count", "role", "min_node_count"),
        *("max_node_count", "is_default", "stack_id", "status", "merge_labels"),
    }
    (worker,) = (await service.call("GET", f"{path}?role=worker")).json()["nodegroups"]
    full = (await service.call("GET", f"/v1/clusters/mine/nodegroups/{worker['uuid']}")).json()
    assert full.items() >= worker.items()
    assert (full["min_node_count"], full["max_node_count"]) == (1, None)
    assert full["labels"] == {"min_node_count": "1"}
    assert full["links"][0]["href"] == f"{BASE}/v1/clusters/{uuid}/nodegroups/{worker['uuid']}"
    assert (await service.call("GET", f"{path}/absent")).status_code == 404


async def test_services_are_for_administrators(service: Service) -> None:
    """The list has one row per worker process, up while its heartbeat is young."""
    await service.store.services.heartbeat("host-1", "magnum-conductor")
    (row,) = (await service.call("GET", "/v1/mservices", token="admin-token")).json()["mservices"]
    assert row["state"] == "up"
    assert (row["id"], row["host"], row["binary"]) == (1, "host-1", "magnum-conductor")
    assert (row["report_count"], row["disabled"]) == (1, False)
    assert (await service.call("GET", "/v1/mservices")).status_code == 403


async def test_bookmark_links_work(service: Service) -> None:
    """A path without the version leads to version 1, as the bookmark links need."""
    uuid = await service.cluster((await service.template())["uuid"])
    for path in (f"/clusters/{uuid}", f"/clusters/{uuid}/", f"/v1/clusters/{uuid}/"):
        assert (await service.call("GET", path)).json()["uuid"] == uuid
