"""Programs that speak plain keystoneauth: versions by number, and tools by their manuals."""

from collections.abc import Iterator
from typing import Any

import pytest
from keystoneauth1.adapter import Adapter
from keystoneauth1.discover import Discover
from keystoneauth1.exceptions import HttpError
from keystoneauth1.session import Session

from tests import logins
from tests.acceptance.stack import Stack, wait_for

SECONDS = 60
LABELS = {"fake_create_seconds": "1", "fake_delete_seconds": "0"}

pytestmark = pytest.mark.timeout(200)


@pytest.fixture(scope="module")
def session(stack: Stack) -> Session:
    return Session(logins.password(stack.cloud, "demo"), timeout=60)


def adapter(session: Session, version: str | None) -> Adapter:
    return Adapter(
        session,
        service_type="container-infra",
        interface="public",
        default_microversion=version,
    )


@pytest.fixture(scope="module")
def api(session: Session) -> Adapter:
    return adapter(session, "1.14")


@pytest.fixture(scope="module")
def template(api: Adapter) -> Iterator[str]:
    body = {"name": "tools", "coe": "kubernetes", "image_id": "fake-os", "labels": LABELS}
    created = api.post("/clustertemplates", json=body).json()
    yield str(created["uuid"])
    api.delete(f"/clustertemplates/{created['uuid']}")


@pytest.fixture
def cluster(api: Adapter, template: str) -> Iterator[str]:
    """A cluster of two nodes that is up."""
    body = {"name": "tools", "cluster_template_id": template, "node_count": 2}
    uuid = str(api.post("/clusters", json=body).json()["uuid"])
    settled(api, uuid)
    yield uuid
    api.delete(f"/clusters/{uuid}")
    wait_for(lambda: gone(api, uuid), SECONDS, "the cluster is gone")


def gone(api: Adapter, uuid: str) -> bool:
    return bool(api.get(f"/clusters/{uuid}", raise_exc=False).status_code == 404)


def settled(api: Adapter, uuid: str) -> dict[str, Any]:
    """Wait as Terraform does: one status is pending, another the goal, all others an error."""
    seen: dict[str, Any] = {}

    def over() -> bool:
        seen.update(api.get(f"/clusters/{uuid}").json())
        return not seen["status"].endswith("_IN_PROGRESS")

    wait_for(over, SECONDS, "the operation has ended")
    assert seen["status"].endswith("_COMPLETE"), seen["status_reason"]
    return seen


@pytest.mark.parametrize(
    ("version", "answered"),
    [(None, "1.1"), ("1.1", "1.1"), ("1.9", "1.9"), ("1.14", "1.14"), ("latest", "1.14")],
)
def test_versions_are_negotiated(session: Session, version: str | None, answered: str) -> None:
    """The version that is asked for, by number or as the latest, is the one of the answer."""
    answer = adapter(session, version).get("/clusters")
    name = "OpenStack-API-Version"
    assert answer.headers[name] == f"container-infrastructure-management {answered}"
    assert name in answer.headers["Vary"]


@pytest.mark.parametrize("version", ["1.15", "2.0"])
def test_versions_that_are_not_served_are_406(session: Session, version: str) -> None:
    """The error names what is served."""
    with pytest.raises(HttpError) as refused:
        adapter(session, version).get("/clusters")
    assert refused.value.http_status == 406
    error = logins.required(refused.value.response).json()["errors"][0]
    assert (error["min_version"], error["max_version"]) == ("1.1", "1.14")


def test_discovery_finds_the_versions(stack: Stack, session: Session) -> None:
    """Programs read the version document, so that clients may choose what both sides know."""
    (found,) = Discover(session, stack.url).version_data()
    assert (found["min_microversion"], found["max_microversion"]) == ((1, 1), (1, 14))
    assert found["url"] == f"{stack.url}/v1/"


def test_fields_follow_the_version(session: Session, cluster: str) -> None:
    """What the backend calls the cluster has the name of the version that is asked for."""
    old = adapter(session, "1.12").get(f"/clusters/{cluster}").json()
    new = adapter(session, "1.13").get(f"/clusters/{cluster}").json()
    assert old["stack_id"] == new["cluster_id"]
    assert "cluster_id" not in old
    assert "stack_id" not in new


def test_terraform(session: Session, api: Adapter, template: str) -> None:
    """The provider: labels as texts, one pending status, a new number by PATCH, 404 at the end."""
    seen: set[str] = set()
    body = {
        "name": "terraform",
        "cluster_template_id": template,
        "node_count": 1,
        "master_count": 1,
        "create_timeout": 60,
        "labels": LABELS | {"a": "1"},
        "merge_labels": True,
    }
    answer = adapter(session, "1.4").post("/clusters", json=body)
    assert answer.status_code == 202
    path = f"/clusters/{answer.json()['uuid']}"

    def created() -> bool:
        shown = api.get(path).json()
        seen.add(shown["status"])
        assert all(isinstance(value, str) for value in shown["labels"].values())
        return bool(shown["status"] == "CREATE_COMPLETE")

    wait_for(created, SECONDS, "the cluster is complete")
    assert seen <= {"CREATE_IN_PROGRESS", "CREATE_COMPLETE"}
    patch = [{"op": "replace", "path": "/node_count", "value": 2}]
    assert api.patch(path, json=patch).status_code == 202
    assert settled(api, answer.json()["uuid"])["node_count"] == 2
    assert api.delete(path).status_code == 204
    wait_for(lambda: gone(api, answer.json()["uuid"]), SECONDS, "the cluster is gone")


def test_cluster_autoscaler(api: Adapter, cluster: str) -> None:
    """The autoscaler: groups with a maximum, and resizes that name the servers which shall go."""
    groups = f"/clusters/{cluster}/nodegroups"
    body = {"name": "scaled", "node_count": 2, "min_node_count": 1, "max_node_count": 3}
    assert api.post(groups, json=body).status_code == 202
    settled(api, cluster)
    listed = {one["name"]: one for one in api.get(groups).json()["nodegroups"]}
    assert (listed["scaled"]["min_node_count"], listed["scaled"]["max_node_count"]) == (1, 3)
    assert listed["default-worker"]["max_node_count"] is None
    group = listed["scaled"]["uuid"]
    resize = f"/clusters/{cluster}/actions/resize"
    assert api.post(resize, json={"node_count": 3, "nodegroup": group}).status_code == 202
    settled(api, cluster)
    nodes = api.get(f"{groups}/{group}/nodes").json()["nodes"]
    doomed = nodes[1]["server_id"]
    wanted = {"node_count": 2, "nodes_to_remove": [doomed], "nodegroup": group}
    assert api.post(resize, json=wanted).status_code == 202
    settled(api, cluster)
    left = {one["server_id"] for one in api.get(f"{groups}/{group}/nodes").json()["nodes"]}
    assert left == {one["server_id"] for one in nodes} - {doomed}
    beyond = api.post(resize, json={"node_count": 4, "nodegroup": group}, raise_exc=False)
    assert beyond.status_code == 400


def test_auto_healer(api: Adapter, cluster: str) -> None:
    """The healer: it writes the health that it sees, and replaces a broken server by its uuid."""
    reason = '{"api": "ok", "tools-1.Ready": "False"}'
    patch = [
        {"op": "replace", "path": "/health_status", "value": "UNHEALTHY"},
        {"op": "replace", "path": "/health_status_reason", "value": reason},
    ]
    assert api.patch(f"/clusters/{cluster}", json=patch).status_code == 202
    shown = api.get(f"/clusters/{cluster}").json()
    assert (shown["status"], shown["health_status"]) == ("CREATE_COMPLETE", "UNHEALTHY")
    assert shown["health_status_reason"] == {"api": "ok", "tools-1.Ready": "False"}
    nodes = api.get(f"/clusters/{cluster}/nodes").json()["nodes"]
    broken = next(one["server_id"] for one in nodes if one["role"] == "worker")
    resize = f"/clusters/{cluster}/actions/resize"
    assert api.post(resize, json={"node_count": 1, "nodes_to_remove": [broken]}).status_code == 202
    settled(api, cluster)
    assert api.post(resize, json={"node_count": 2}).status_code == 202
    settled(api, cluster)
    servers = {one["server_id"] for one in api.get(f"/clusters/{cluster}/nodes").json()["nodes"]}
    assert broken not in servers
    assert len(servers) == 3
