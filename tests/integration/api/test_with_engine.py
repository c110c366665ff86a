"""The API with the real engine: a real Temporal server, a real store, the fake driver."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from temporalio.client import Client

from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from tests.integration.api.conftest import Service, error_of, serving
from tests.integration.engine import running_engine

QUICK = {
    f"fake_{what}_seconds": "0.2"
    for what in ("create", "delete", "update", "upgrade", "reboot", "rebuild", "group")
}


@pytest.fixture(scope="module")
async def live(
    temporal_client: Client, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Service]:
    directory = tmp_path_factory.mktemp("live")
    async with running_engine(temporal_client, directory) as engine:
        drivers = DriverRegistry([DriverEntry(FakeDriver(engine.fakes))])
        settings = engine.settings.model_copy(update={"max_clusters_per_project": 100})
        async with serving(settings, engine.store, engine.operations, drivers) as service:
            yield service


async def ended(service: Service, response: Any, seconds: float = 60) -> dict[str, Any]:
    """Wait until the operation that a request began has ended; return its record."""
    assert response.is_success, response.text
    path = f"/v1/operations/{response.headers['jeroboam-operation']}"
    async with asyncio.timeout(seconds):
        while True:
            body: dict[str, Any] = (await service.call("GET", path, token="admin-token")).json()
            if body["ended_at"]:
                return body
            await asyncio.sleep(0.05)


async def created(service: Service, name: str, **labels: str) -> str:
    template = await service.template(name=f"of-{name}", labels=QUICK | labels)
    body = {"name": name, "cluster_template_id": template["uuid"], "node_count": 2}
    response = await service.call("POST", "/v1/clusters", json=body)
    assert (await ended(service, response))["state"] == "SUCCEEDED"
    return str(response.json()["uuid"])


async def show(service: Service, uuid: str, *path: str) -> dict[str, Any]:
    url = "/".join(("/v1/clusters", uuid, *path))
    body: dict[str, Any] = (await service.call("GET", url)).json()
    return body


async def test_a_cluster_s_whole_life(live: Service) -> None:
    """Each operation ends as its record says, and the cluster is as it was asked for."""
    uuid = await created(live, "life")
    assert (await show(live, uuid))["status"] == "CREATE_COMPLETE"

    change = [{"op": "replace", "path": "/node_count", "value": 3}]
    record = await ended(live, await live.call("PATCH", f"/v1/clusters/{uuid}", json=change))
    assert (record["state"], record["changes"]) == (
        "SUCCEEDED",
        {"default-worker.node_count": "2 -> 3"},
    )
    assert len((await show(live, uuid))["node_addresses"]) == 3

    spec = await live.store.clusters.spec(uuid)
    unwanted = spec.workers[0].nodes[0]
    body = {"node_count": 2, "nodes_to_remove": [unwanted.id]}
    await ended(live, await live.act(uuid, "resize", json=body))
    names = [node.name for node in (await live.store.clusters.spec(uuid)).workers[0].nodes]
    assert len(names) == 2
    assert unwanted.name not in names

    group = {"name": "extra", "node_count": 1, "max_node_count": 3}
    response = await live.call("POST", f"/v1/clusters/{uuid}/nodegroups", json=group)
    assert (await ended(live, response))["state"] == "SUCCEEDED"
    assert (await show(live, uuid, "nodegroups", "extra"))["status"] == "CREATE_COMPLETE"
    bounds = [{"op": "replace", "path": "/max_node_count", "value": 5}]
    path = f"/v1/clusters/{uuid}/nodegroups/extra"
    await ended(live, await live.call("PATCH", path, json=bounds))
    assert (await show(live, uuid, "nodegroups", "extra"))["max_node_count"] == 5

    newer = await live.template(name="newer", labels=QUICK | {"fake_version": "v1.32.0"})
    body = {"cluster_template": "newer", "max_batch_size": 2}
    record = await ended(live, await live.act(uuid, "upgrade", json=body))
    assert record["changes"]["cluster_template"] == "of-life -> newer"
    cluster = await show(live, uuid)
    assert cluster["cluster_template_id"] == newer["uuid"]
    assert cluster["status"] == "UPDATE_COMPLETE"

    actions: list[tuple[str, dict[str, Any]]] = [
        ("rebuild", {"batch_size": None}),
        ("reboot", {"type": "soft", "node_groups": ["extra"]}),
        ("reboot", {"type": "hard", "nodes": [names[0]]}),
        ("check_health", {}),
    ]
    for action, wish in actions:
        record = await ended(live, await live.act(uuid, action, json=wish))
        assert record["state"] == "SUCCEEDED", record
    assert (await show(live, uuid))["health_status"] == "HEALTHY"

    await ended(live, await live.call("DELETE", path))
    assert (await live.call("GET", path)).status_code == 404
    await ended(live, await live.call("DELETE", f"/v1/clusters/{uuid}"))
    assert (await live.call("GET", f"/v1/clusters/{uuid}")).status_code == 404

    response = await live.call("GET", f"/v1/clusters/{uuid}/operations?sort_dir=asc&limit=50")
    records = response.json()["operations"]
    assert [one["kind"] for one in records] == [
        *("create", "update", "resize", "create_node_group", "update_node_group", "upgrade"),
        *("rebuild", "soft_reboot", "hard_reboot", "check_health"),
        *("delete_node_group", "delete"),
    ]
    assert {one["state"] for one in records} == {"SUCCEEDED"}


async def test_the_record_is_that_of_the_run(live: Service) -> None:
    """All planned steps are done, each with its times, and the link leads to the run."""
    uuid = await created(live, "record")
    (one,) = (await live.call("GET", f"/v1/clusters/{uuid}/operations")).json()["operations"]
    response = await live.call("GET", f"/v1/operations/{one['uuid']}", token="admin-token")
    record = response.json()
    planned = [step["name"] for step in record["plan"]["steps"]]
    assert [step["name"] for step in record["steps"]] == planned
    for step in record["steps"]:
        assert step["state"] == "SUCCEEDED"
        assert record["started_at"] <= step["started_at"] <= step["ended_at"]
        assert step["attempts"] >= 1
    operation = await live.store.operations.get(one["uuid"])
    link = next(link["href"] for link in record["links"] if link["rel"] == "temporal")
    assert f"/workflows/cluster%2F{uuid}/{operation.run_id}/" in link


async def test_a_change_that_fails_is_rolled_back_and_can_be_retried(live: Service) -> None:
    """The size is the old one again, the reason is told, and the retry succeeds."""
    uuid = await created(live, "rolled", fake_fail="update", fake_fail_times="1")
    record = await ended(live, await live.act(uuid, "resize", json={"node_count": 4}))
    assert (record["state"], record["retry_possible"]) == ("FAILED", True)
    assert "Injected fault" in record["reason"]
    assert any(step["undoes"] for step in record["steps"])
    cluster = await show(live, uuid)
    assert (cluster["status"], cluster["node_count"]) == ("ROLLBACK_COMPLETE", 2)
    response = await live.call("POST", f"/v1/operations/{record['uuid']}/retry")
    assert response.status_code == 202, response.text
    assert (await ended(live, response))["state"] == "SUCCEEDED"
    assert (await show(live, uuid))["node_count"] == 4


async def test_a_cancelled_reboot_stops_and_is_resumed(live: Service) -> None:
    """The answer says what happens; the nodes that are left are rebooted by the resumption."""
    uuid = await created(live, "cancelled", fake_reboot_seconds="1")
    started = await live.act(uuid, "reboot", json={"type": "soft"})
    operation = started.json()["operation_id"]
    path = f"/v1/operations/{operation}"
    async with asyncio.timeout(30):
        while True:
            if (await live.call("GET", path)).json()["current_step"]:
                break
            await asyncio.sleep(0.05)
    busy = await live.act(uuid, "rebuild")
    assert error_of(busy)["operation"]["uuid"] == operation
    assert error_of(busy)["operation"]["step"] is not None
    response = await live.call("POST", f"{path}/cancel", json={"reason": "not now"})
    assert response.status_code == 202, response.text
    assert response.json()["message"]
    record = await ended(live, response)
    assert record["state"] == "CANCELLED"
    assert "not now" in record["reason"]
    response = await live.call("POST", f"{path}/resume")
    assert response.status_code == 202, response.text
    assert (await ended(live, response))["state"] == "SUCCEEDED"


async def test_a_delete_takes_over_and_a_dry_run_does_not(live: Service) -> None:
    """A delete in the middle of a rebuild wins; a dry run of it changes nothing."""
    uuid = await created(live, "taken", fake_rebuild_seconds="30")
    rebuild = await live.act(uuid, "rebuild")
    dry = await live.call("DELETE", f"/v1/clusters/{uuid}?dry_run=true")
    assert dry.status_code == 200
    assert (await show(live, uuid))["status"] == "UPDATE_IN_PROGRESS"
    record = await ended(live, await live.call("DELETE", f"/v1/clusters/{uuid}"))
    assert (record["kind"], record["state"]) == ("delete", "SUCCEEDED")
    assert (await ended(live, rebuild))["state"] in {"CANCELLED", "FAILED"}


async def test_of_many_requests_one_runs(live: Service) -> None:
    """With the real engine too exactly one of many simultaneous requests is accepted."""
    uuid = await created(live, "crowd")
    calls = [live.act(uuid, "resize", json={"node_count": 3}) for _ in range(5)]
    calls += [live.act(uuid, "reboot", json={"type": "soft"}) for _ in range(5)]
    responses = await asyncio.gather(*calls)
    won = [response for response in responses if response.is_success]
    assert len(won) == 1
    assert {response.status_code for response in responses if response not in won} == {409}
    assert (await ended(live, won[0]))["state"] == "SUCCEEDED"
