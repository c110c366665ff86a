"""Nodes are chosen and emptied before they go, in a real Kubernetes cluster."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest

from jeroboam.activities import draining
from jeroboam.drivers.kubernetes.client import ClusterApi
from jeroboam.drivers.kubernetes.scale import MARK
from jeroboam.errors import NotFoundError
from jeroboam.models import work
from tests.integration.api.test_with_engine import ended
from tests.kubernetes.conftest import Hosted
from tests.kubernetes.workloads import deploy, pods, protect, until

BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


async def resize(hosted: Hosted, count: int, **more: Any) -> dict[str, Any]:
    """Resize the workers to a count; return the record of the operation."""
    body = {"node_count": count, **more}
    answer = await hosted.call("POST", "actions/resize", json=body)
    return await ended(hosted.service, answer, seconds=120)


async def grow(hosted: Hosted, count: int) -> list[str]:
    """Give the cluster so many workers, each known to Kubernetes; return their names."""
    if len(await hosted.workers()) != count:
        assert (await resize(hosted, count))["state"] == "SUCCEEDED"
    names = await hosted.workers()
    with hosted.plane.api() as api:
        known = {node["metadata"]["name"] for node in api.items("/api/v1/nodes")}
        for name in known - set(names):
            api.request("DELETE", f"/api/v1/nodes/{name}")
    for name in set(names) - known:
        hosted.kubelets.add(name)
    return names


def where(api: ClusterApi, name: str) -> list[str]:
    return sorted(pod["spec"]["nodeName"] for pod in pods(api, name))


def closed(api: ClusterApi) -> list[str]:
    nodes = api.items("/api/v1/nodes")
    return [node["metadata"]["name"] for node in nodes if node["spec"].get("unschedulable")]


def step(record: dict[str, Any], words: str) -> dict[str, Any]:
    (found,) = [one for one in record["steps"] if words in one["name"]]
    return dict(found)


@pytest.fixture
async def api(hosted: Hosted) -> AsyncIterator[ClusterApi]:
    with hosted.plane.api() as api:
        yield api
        for name in ("busy", "guarded"):
            for removal in (
                f"{BUDGETS}/{name}",
                f"/apis/apps/v1/namespaces/default/deployments/{name}",
            ):
                with suppress(NotFoundError):
                    api.request("DELETE", removal, {"propagationPolicy": "Background"})
        await until(lambda: not pods(api, "busy") and not pods(api, "guarded"))


async def test_the_empty_node_goes_first(hosted: Hosted, api: ClusterApi) -> None:
    """Nothing that runs is touched."""
    first, second, third = await grow(hosted, 3)
    for name in (first, third):
        deploy_on(api, "busy" if name == first else "guarded", name)
    await until(lambda: where(api, "busy") == [first] and where(api, "guarded") == [third])
    before = {pod["metadata"]["uid"] for name in ("busy", "guarded") for pod in pods(api, name)}
    record = await resize(hosted, 2)
    assert record["state"] == "SUCCEEDED", record
    assert await hosted.workers() == [first, third]
    assert step(record, "Empty the nodes")["result"] == f"Emptied: {second}."
    after = {pod["metadata"]["uid"] for name in ("busy", "guarded") for pod in pods(api, name)}
    assert before == after


async def test_the_least_loaded_node_is_emptied(hosted: Hosted, api: ClusterApi) -> None:
    """Its pods run elsewhere before it goes, and nothing new comes to it."""
    first, second = await grow(hosted, 2)
    deploy(api, "busy", 3)
    await until(lambda: len(pods(api, "busy")) == 3)
    counted = {name: where(api, "busy").count(name) for name in (first, second)}
    lighter = min(counted, key=lambda name: counted[name])
    (heavier,) = {first, second} - {lighter}
    record = await resize(hosted, 1)
    assert record["state"] == "SUCCEEDED", record
    assert await hosted.workers() == [heavier]
    await until(lambda: where(api, "busy") == [heavier] * 3)


async def test_a_node_that_is_named_goes_although_it_is_loaded(
    hosted: Hosted, api: ClusterApi
) -> None:
    """The user's word counts, and its pods are moved all the same."""
    first, second = await grow(hosted, 2)
    deploy_on(api, "busy", first, prefer=True)
    await until(lambda: where(api, "busy") == [first])
    record = await resize(hosted, 1, nodes_to_remove=[first])
    assert record["state"] == "SUCCEEDED", record
    assert await hosted.workers() == [second]
    await until(lambda: where(api, "busy") == [second])


async def test_a_disruption_budget_is_respected(
    hosted: Hosted, api: ClusterApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The resize fails with the reason, no node goes, and the nodes are opened again."""
    first, second = await grow(hosted, 2)
    deploy_on(api, "guarded", first)
    protect(api, "guarded", 1)
    await until(lambda: where(api, "guarded") == [first])
    (pod,) = pods(api, "guarded")
    monkeypatch.setattr(work, "DRAIN_SECONDS", 8)
    monkeypatch.setattr(draining, "PASS_SECONDS", 1)
    monkeypatch.setattr(draining, "MARGIN_SECONDS", 3)
    record = await resize(hosted, 1, nodes_to_remove=[first])
    assert record["state"] == "FAILED", record
    assert "disruption budget" in record["reason"]
    assert "default/guarded" in record["reason"]
    assert await hosted.workers() == [first, second]
    assert pods(api, "guarded")[0]["metadata"]["uid"] == pod["metadata"]["uid"]
    assert closed(api) == []

    # Where the choice is free, the other node goes.
    record = await resize(hosted, 1)
    assert record["state"] == "SUCCEEDED", record
    assert await hosted.workers() == [first]


async def test_a_budget_that_permits_one_at_a_time_is_waited_for(
    hosted: Hosted, api: ClusterApi
) -> None:
    """Both pods move, never both at once."""
    names = await grow(hosted, 2)
    deploy(api, "guarded", 2)
    await until(lambda: len(pods(api, "guarded")) == 2)
    protect(api, "guarded", 1)
    await until(lambda: allowed(api) == 1)
    fewest: list[int] = []
    done = asyncio.Event()

    async def watch() -> None:
        while not done.is_set():
            fewest.append(len(await asyncio.to_thread(pods, api_of_its_own, "guarded")))
            await asyncio.sleep(0.1)

    with hosted.plane.api() as api_of_its_own:
        watching = asyncio.create_task(watch())
        record = await resize(hosted, 1)
        done.set()
        await watching
    assert record["state"] == "SUCCEEDED", record
    (left,) = await hosted.workers()
    assert left in names
    await until(lambda: where(api, "guarded") == [left, left])
    assert min(fewest) >= 1


async def test_a_node_that_somebody_else_closed_stays_closed(
    hosted: Hosted, api: ClusterApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A roll-back opens only what Jeroboam has closed."""
    first, second = await grow(hosted, 2)
    deploy_on(api, "guarded", first)
    protect(api, "guarded", 1)
    await until(lambda: where(api, "guarded") == [first])
    api.merge(f"/api/v1/nodes/{first}", {"spec": {"unschedulable": True}})
    monkeypatch.setattr(work, "DRAIN_SECONDS", 6)
    monkeypatch.setattr(draining, "PASS_SECONDS", 1)
    monkeypatch.setattr(draining, "MARGIN_SECONDS", 3)
    try:
        record = await resize(hosted, 1, nodes_to_remove=[first])
        assert record["state"] == "FAILED", record
        await asyncio.sleep(2)
        assert closed(api) == [first]
    finally:
        api.merge(f"/api/v1/nodes/{first}", {"spec": {"unschedulable": None}})
    marks = [node["metadata"].get("annotations") or {} for node in api.items("/api/v1/nodes")]
    assert not any(MARK in one for one in marks)
    assert second in await hosted.workers()


async def test_a_group_is_emptied_before_it_goes(hosted: Hosted, api: ClusterApi) -> None:
    """Its pods find room elsewhere."""
    (only, *_) = await grow(hosted, 1)
    body = {"name": "extra", "node_count": 1}
    answer = await hosted.call("POST", "nodegroups", json=body)
    assert (await ended(hosted.service, answer))["state"] == "SUCCEEDED"
    (added,) = (await hosted.spec()).group("extra").nodes
    hosted.kubelets.add(added.name)
    deploy_on(api, "busy", added.name, prefer=True)
    await until(lambda: where(api, "busy") == [added.name])
    answer = await hosted.call("DELETE", "nodegroups/extra")
    record = await ended(hosted.service, answer)
    assert record["state"] == "SUCCEEDED", record
    assert step(record, "Empty the nodes of extra")["state"] == "SUCCEEDED"
    await until(lambda: where(api, "busy") == [only])


async def test_a_cluster_that_never_answers_shrinks_with_a_warning(hosted: Hosted) -> None:
    """It may be broken, and that may be why: the record says that nothing was moved."""
    await grow(hosted, 2)
    hosted.plane.stop("kube-apiserver")
    try:
        record = await resize(hosted, 1)
    finally:
        hosted.plane.restart_api()
    assert record["state"] == "SUCCEEDED", record
    drain = step(record, "Empty the nodes")
    assert drain["state"] == "WARNED"
    assert "cannot be reached" in drain["error"]
    assert "without being emptied" in record["reason"]
    await grow(hosted, 2)


def deploy_on(api: ClusterApi, name: str, node: str, *, prefer: bool = False) -> None:
    """Deploy one pod onto a node; with ``prefer`` it may run elsewhere as well."""
    term = {
        "matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]
    }
    kind, value = (
        ("preferred", [{"weight": 100, "preference": term}])
        if prefer
        else ("required", {"nodeSelectorTerms": [term]})
    )
    affinity = {"nodeAffinity": {f"{kind}DuringSchedulingIgnoredDuringExecution": value}}
    deploy(api, name, 1, affinity=affinity)


def allowed(api: ClusterApi) -> int:
    status = api.get(f"{BUDGETS}/guarded").get("status") or {}
    return int(status.get("disruptionsAllowed") or 0)
