"""What regular looks find in a real Kubernetes cluster."""

from typing import Any

from jeroboam.drivers.kubernetes.usage import MEASURED, RESERVED
from jeroboam.models import Health, HealthStatus, new_uuid, utc_now
from jeroboam.models.monitoring_wire import MONITOR_WORKFLOW
from tests.kubernetes.conftest import Hosted
from tests.kubernetes.workloads import deploy, pods, remove, until

CUSTOM = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
METRICS = "/apis/metrics.k8s.io/v1beta1/nodes"


async def look(hosted: Hosted) -> dict[str, Any]:
    """Have the engine look at the cluster now; return what the API shows."""
    found = await hosted.engine.store.monitoring.get(hosted.uuid)
    if found:
        due = found.model_copy(update={"next_at": utc_now()})
        await hosted.engine.store.monitoring.record(due, Health(status=HealthStatus.UNKNOWN))
    await hosted.engine.client.execute_workflow(
        MONITOR_WORKFLOW, id=f"monitor-{new_uuid()}", task_queue=hosted.engine.settings.task_queue
    )
    shown: dict[str, Any] = (await hosted.call("GET", "")).json()
    return shown


async def usage(hosted: Hosted) -> dict[str, Any]:
    body: dict[str, Any] = (await hosted.call("GET", "usage")).json()
    return body


async def test_health_and_what_pods_reserve(hosted: Hosted) -> None:
    """Without a metrics server, what is reserved counts; and it says so."""
    with hosted.plane.api() as api:
        deploy(api, "load", 3)
        await until(lambda: len(pods(api, "load")) == 3)
        cluster = await look(hosted)
        assert cluster["health_status"] == "HEALTHY", cluster
        names = await hosted.workers()
        reasons = cluster["health_status_reason"]
        assert reasons["api"] == "ok"
        assert set(names) <= set(reasons)
        found = await usage(hosted)
        assert found["source"] == RESERVED
        assert sorted(found["nodes"]) == sorted(names)
        assert found["total"]["cpu_millicores"] == 1500
        assert found["total"]["memory_mib"] == 768
        assert found["total"]["cpu_capacity_millicores"] == 8000
        remove(api, "load")
        await until(lambda: not pods(api, "load"))


async def test_what_a_metrics_server_measures(hosted: Hosted) -> None:
    """Where there is one, its numbers count."""
    names = await hosted.workers()
    with hosted.plane.api() as api:
        api.create(CUSTOM, definition())
        await until(lambda: served(api))
        for name in names:
            measured = {"cpu": "123456789n", "memory": "1048576Ki"}
            api.create(METRICS, record(name, measured))
        await look(hosted)
        found = await usage(hosted)
        api.request("DELETE", f"{CUSTOM}/nodes.metrics.k8s.io")
    assert found["source"] == MEASURED
    assert found["nodes"][names[0]]["cpu_millicores"] == 123
    assert found["total"]["memory_mib"] == 1024 * len(names)


async def test_a_node_that_is_not_ready_makes_the_cluster_unhealthy(hosted: Hosted) -> None:
    """It is named, with what it says itself."""
    name, *_ = await hosted.workers()
    hosted.kubelets.set_ready(name, ready=False)
    cluster = await look(hosted)
    hosted.kubelets.set_ready(name, ready=True)
    assert cluster["health_status"] == "UNHEALTHY"
    assert cluster["health_status_reason"][name] == "Ready: the runtime is down"
    assert (await look(hosted))["health_status"] == "HEALTHY"


async def test_a_cluster_that_is_away_is_unknown(hosted: Hosted) -> None:
    """With the reason; what it used is still shown, with its time."""
    before = await usage(hosted)
    hosted.plane.stop("kube-apiserver")
    try:
        cluster = await look(hosted)
    finally:
        hosted.plane.restart_api()
    assert cluster["health_status"] == "UNKNOWN"
    assert "cannot be reached" in cluster["health_status_reason"]["api"]
    after = await usage(hosted)
    assert (after["nodes"], after["measured_at"]) == (before["nodes"], before["measured_at"])
    assert after["failures"] == 1
    assert (await look(hosted))["health_status"] == "HEALTHY"


def served(api: Any) -> bool:
    groups = api.get("/apis")["groups"]
    return any(group["name"] == "metrics.k8s.io" for group in groups)


def record(name: str, measured: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "metrics.k8s.io/v1beta1",
        "kind": "NodeMetrics",
        "metadata": {"name": name},
        "usage": measured,
    }


def definition() -> dict[str, Any]:
    """Return a definition by which the API server itself keeps what a metrics server serves."""
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1beta1", "served": True, "storage": True}
    return {
        "metadata": {
            "name": "nodes.metrics.k8s.io",
            "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
        },
        "spec": {
            "group": "metrics.k8s.io",
            "scope": "Cluster",
            "names": {"plural": "nodes", "singular": "nodemetrics", "kind": "NodeMetrics"},
            "versions": [{**version, "schema": {"openAPIV3Schema": free}}],
        },
    }
