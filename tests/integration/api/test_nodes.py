"""The nodes of clusters and node groups, with what an autoscaler needs of them."""

import pytest

from jeroboam.models import Health, HealthStatus, new_uuid, utc_now
from jeroboam.models.monitoring import Monitored
from tests.integration.api.conftest import BASE, Service, error_of


async def test_nodes_have_their_servers(service: Service) -> None:
    """Name, server, state and group of each node are listed, by name."""
    uuid = await service.built(node_count=2, flavor_id="m1.small")
    listed = (await service.call("GET", f"/v1/clusters/{uuid}/nodes", version=None)).json()
    assert [node["name"] for node in listed["nodes"]] == [
        "mine-default-master-0",
        "mine-default-worker-0",
        "mine-default-worker-1",
    ]
    (group,) = (await service.call("GET", f"/v1/clusters/{uuid}/nodegroups?role=worker")).json()[
        "nodegroups"
    ]
    (record,) = (await service.store.clusters.spec(uuid)).workers
    worker = listed["nodes"][2]
    assert worker == {
        "id": record.nodes[1].id,
        "name": "mine-default-worker-1",
        "server_id": record.nodes[1].id,
        "status": "ACTIVE",
        "addresses": [],
        "version": None,
        "flavor_id": "m1.small",
        "nodegroup_id": group["uuid"],
        "nodegroup": "default-worker",
        "role": "worker",
        "health": None,
    }
    assert listed["checked_at"] is None
    for ident in (group["uuid"], "default-worker"):
        path = f"/v1/clusters/mine/nodegroups/{ident}/nodes"
        of_group = (await service.call("GET", path)).json()
        assert of_group["nodes"] == listed["nodes"][1:]


async def test_the_last_look_at_the_cluster_is_shown(service: Service) -> None:
    """What monitoring found of a node stands beside it, with the time."""
    uuid = await service.built()
    reasons = {"api": "ok", "mine-default-worker-0": "not ready: disk pressure"}
    found = Health(status=HealthStatus.UNHEALTHY, reasons=reasons)
    look = Monitored(cluster_id=uuid, checked_at=utc_now(), next_at=utc_now())
    await service.store.monitoring.record(look, found)
    listed = (await service.call("GET", f"/v1/clusters/{uuid}/nodes")).json()
    assert [node["health"] for node in listed["nodes"]] == [None, "not ready: disk pressure"]
    assert listed["checked_at"]


async def test_pages_sort_and_go_on(service: Service) -> None:
    """Following ``next`` visits each node once; role and sorting are kept."""
    uuid = await service.built(node_count=4)
    url = f"{BASE}/v1/clusters/{uuid}/nodes?limit=3&sort_dir=desc&role=worker"
    first = (await service.call("GET", url)).json()
    assert "role=worker" in first["next"]
    rest = (await service.call("GET", first["next"])).json()
    names = [node["name"] for node in (*first["nodes"], *rest["nodes"])]
    assert names == [f"mine-default-worker-{n}" for n in (3, 2, 1, 0)]
    assert "next" not in rest
    marked = f"/v1/clusters/{uuid}/nodes?marker={first['nodes'][-1]['id']}&sort_dir=desc"
    again = (await service.call("GET", f"{marked}&role=worker")).json()
    assert again["nodes"] == rest["nodes"]


@pytest.mark.parametrize("below", ["", "/nodegroups/default-worker"])
@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("limit=0", 400),
        ("sort_key=addresses", 400),
        ("sort_dir=up", 400),
        ("marker=absent", 404),
        ("x=1", 400),
    ],
)
async def test_bad_arguments(service: Service, below: str, query: str, status: int) -> None:
    """List arguments are checked as everywhere; a marker is a node's name or id."""
    uuid = await service.built()
    response = await service.call("GET", f"/v1/clusters/{uuid}{below}/nodes?{query}")
    assert response.status_code == status, response.text


async def test_who_may_look(service: Service) -> None:
    """Readers of the project may, guests may not, and strangers find nothing."""
    uuid = await service.built()
    for path in (f"/v1/clusters/{uuid}/nodes", f"/v1/clusters/{uuid}/nodegroups/x/nodes"):
        stranger = await service.call("GET", path, token="stranger-token")
        assert stranger.status_code == 404
        nobody = await service.call("GET", path, token="nobody-token")
        assert nobody.status_code == 403
        assert "nodegroup:get" in error_of(nobody)["detail"]
    reader = await service.call("GET", f"/v1/clusters/{uuid}/nodes", token="reader-token")
    assert reader.status_code == 200
    absent = await service.call("GET", f"/v1/clusters/{uuid}/nodegroups/{new_uuid()}/nodes")
    assert absent.status_code == 404
