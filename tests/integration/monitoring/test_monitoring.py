"""Regular looks at clusters, with a real Temporal, worker and database."""

import time
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any, ClassVar

import httpx
import pytest
from temporalio.client import Client, ScheduleOverlapPolicy

from jeroboam import health, metrics
from jeroboam.activities import monitoring
from jeroboam.drivers.base import DriverContext, SupportsMonitor
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.errors import ClusterUnreachableError, StoreUnavailableError
from jeroboam.models import ClusterSpec, Health, HealthStatus, new_uuid, utc_now
from jeroboam.models.monitoring import Monitored, NodeUsage, Observation, Usage
from jeroboam.models.monitoring_wire import MONITOR_WORKFLOW
from jeroboam.settings import Settings
from jeroboam.workflows.schedules import MONITOR_SCHEDULE, ensure_schedules
from tests.conftest import free_port
from tests.integration.api.cloud import PROJECT
from tests.integration.api.conftest import Service, serving
from tests.integration.engine import Engine, running_engine

SECRET = "what-must-not-be-seen"
NODE = NodeUsage(
    cpu_millicores=1500, cpu_capacity_millicores=4000, memory_mib=512, memory_capacity_mib=8192
)
WELL = Observation(
    health=Health(status=HealthStatus.HEALTHY, reasons={"api": "ok"}),
    usage=Usage(source="tests: made up", nodes={"one": NODE, "two": NODE}),
)


class WatchedDriver(FakeDriver, SupportsMonitor):
    """The fake driver; what it finds is what a test says."""

    found: ClassVar[Callable[[], Observation]]
    looks: ClassVar[list[str]] = []

    def monitor(self, context: DriverContext, spec: ClusterSpec) -> Observation:
        self.looks.append(spec.cluster.uuid)
        return type(self).found()


class Watched:
    """One cluster, and the service that looks at it."""

    def __init__(self, service: Service, engine: Engine, uuid: str) -> None:
        self.service, self.engine, self.uuid = service, engine, uuid

    async def round(self, *, due: bool = True) -> None:
        """Run one round; with ``due`` the cluster's time has come."""
        if due:
            await self.make_due()
        await self.engine.client.execute_workflow(
            MONITOR_WORKFLOW, id=f"monitor-{new_uuid()}", task_queue=self.engine.settings.task_queue
        )

    async def make_due(self) -> None:
        found = await self.engine.store.monitoring.get(self.uuid)
        if found:
            cluster = (await self.engine.store.clusters.spec(self.uuid)).cluster
            assert cluster.health_status
            known = Health(status=cluster.health_status, reasons=cluster.health_status_reason)
            await self.engine.store.monitoring.record(
                found.model_copy(update={"next_at": utc_now()}), known
            )

    async def show(self, path: str = "", token: str = "member-token") -> Any:
        return await self.service.call("GET", f"/v1/clusters/{self.uuid}{path}", token=token)


@pytest.fixture
async def watched(temporal_client: Client, tmp_path: Any) -> AsyncIterator[Watched]:
    WatchedDriver.found = staticmethod(lambda: WELL)
    WatchedDriver.looks.clear()
    async with running_engine(temporal_client, tmp_path, driver=WatchedDriver) as engine:
        drivers = DriverRegistry([DriverEntry(WatchedDriver(engine.fakes))])
        async with serving(engine.settings, engine.store, engine.operations, drivers) as service:
            spec = await engine.ready(project_id=PROJECT, user_id="u1")
            yield Watched(service, engine, spec.cluster.uuid)


async def test_what_is_found_is_shown(watched: Watched) -> None:
    """As Magnum's health words, and as usage by node and in total."""
    before = (await watched.show("/usage")).json()
    assert (before["checked_at"], before["total"], before["nodes"]) == (None, None, {})
    await watched.round()
    cluster = (await watched.show()).json()
    assert (cluster["health_status"], cluster["health_status_reason"]) == ("HEALTHY", {"api": "ok"})
    body = (await watched.show("/usage")).json()
    assert body["source"] == "tests: made up"
    assert body["total"] == {
        "cpu_millicores": 3000,
        "cpu_capacity_millicores": 8000,
        "memory_mib": 1024,
        "memory_capacity_mib": 16384,
    }
    assert sorted(body["nodes"]) == ["one", "two"]
    assert (await watched.show("/usage", token="stranger-token")).status_code == 404
    assert (await watched.show("/usage", token="nobody-token")).status_code == 403
    assert (await watched.show("/usage", token="reader-token")).status_code == 200


async def test_a_cluster_is_left_alone_until_its_time(watched: Watched) -> None:
    """The interval, a tenth shorter or longer."""
    await watched.round()
    await watched.round(due=False)
    assert WatchedDriver.looks == [watched.uuid]
    found = await watched.engine.store.monitoring.get(watched.uuid)
    assert found
    pause = found.next_at - found.checked_at
    assert timedelta(seconds=270) <= pause <= timedelta(seconds=330)


def unreachable() -> Observation:
    raise ClusterUnreachableError("https://192.0.2.1 cannot be reached.")


def defect() -> Observation:
    raise RuntimeError(SECRET)


def hang() -> Observation:
    time.sleep(1)
    return WELL


@pytest.mark.parametrize(
    ("found", "words"),
    [(unreachable, "cannot be reached"), (defect, "RuntimeError"), (hang, "0.2 seconds")],
)
async def test_what_cannot_be_found_is_unknown(
    watched: Watched,
    monkeypatch: pytest.MonkeyPatch,
    found: Callable[[], Observation],
    words: str,
) -> None:
    """With the reason, a pause that grows, and what was known of its use."""
    await watched.round()
    monkeypatch.setattr(monitoring, "LOOK_SECONDS", 0.2)
    WatchedDriver.found = staticmethod(found)
    for failures in (1, 2, 3):
        await watched.round()
        record = await watched.engine.store.monitoring.get(watched.uuid)
        assert record
        assert record.failures == failures
        assert record.usage == WELL.usage
        pause = (record.next_at - record.checked_at) / timedelta(seconds=300)
        assert 0.89 <= pause / 2**failures <= 1.11
    body = (await watched.show()).text
    assert '"health_status":"UNKNOWN"' in body
    assert words in body
    assert SECRET not in body
    WatchedDriver.found = staticmethod(lambda: WELL)
    await watched.round()
    record = await watched.engine.store.monitoring.get(watched.uuid)
    assert record
    assert record.failures == 0


async def test_a_cluster_that_goes_takes_its_record_along(watched: Watched) -> None:
    """Its delete does not stumble over it, and no later look brings it back."""
    await watched.round()
    spec = await watched.engine.store.clusters.spec(watched.uuid)
    await watched.engine.delete(spec.cluster)
    await watched.engine.gone(spec)
    assert await watched.engine.store.monitoring.get(watched.uuid) is None
    late = Monitored(cluster_id=watched.uuid, checked_at=utc_now(), next_at=utc_now())
    await watched.engine.store.monitoring.record(late, WELL.health)
    assert await watched.engine.store.monitoring.get(watched.uuid) is None


async def test_clusters_that_are_not_there_are_not_looked_at(watched: Watched) -> None:
    """One that is being built has nothing to look at."""
    spec, operation = watched.engine.new(project_id=PROJECT)
    await watched.engine.accept(spec, operation)
    due = await watched.engine.store.monitoring.due(utc_now(), 10)
    assert list(due) == [(watched.uuid, "fake")]


async def test_a_driver_without_a_monitor_tells_its_health(
    temporal_client: Client, tmp_path: Any
) -> None:
    """By the check that users can ask for."""
    async with running_engine(temporal_client, tmp_path) as engine:
        spec = await engine.ready(labels={"fake_health": "UNHEALTHY"})
        await engine.client.execute_workflow(
            MONITOR_WORKFLOW, id=f"monitor-{new_uuid()}", task_queue=engine.settings.task_queue
        )
        assert (await engine.cluster(spec)).health_status is HealthStatus.UNHEALTHY


async def test_the_schedule_has_one_owner(temporal_client: Client) -> None:
    """No round begins while another one runs, and 0 switches it off."""
    settings = Settings(task_queue=f"queue-{new_uuid()}", monitor_interval_seconds=40)
    await ensure_schedules(temporal_client, settings)
    handle = temporal_client.get_schedule_handle(MONITOR_SCHEDULE)
    schedule = (await handle.describe()).schedule
    assert schedule.policy.overlap is ScheduleOverlapPolicy.SKIP
    assert schedule.spec.intervals[0].every == timedelta(seconds=20)
    assert schedule.spec.jitter == timedelta(seconds=4)
    off = settings.model_copy(update={"monitor_interval_seconds": 0.0})
    for _ in range(2):
        await ensure_schedules(temporal_client, off)
    listed = [one.id async for one in await temporal_client.list_schedules()]
    assert MONITOR_SCHEDULE not in listed


async def test_metrics_are_served_beside_the_liveness(watched: Watched) -> None:
    """Prometheus reads them from the worker; a database that is away is a 503."""
    await watched.round()
    settings = Settings(worker_health_port=free_port())
    url = f"http://127.0.0.1:{settings.worker_health_port}"
    away = False

    async def page() -> str:
        if away:
            raise StoreUnavailableError("away")
        store = watched.engine.store
        ends = await store.certificates.ends(utc_now(), metrics.EXPIRING_DAYS)
        return metrics.page(await store.monitoring.all(), ends)

    async with health.listening(settings, (), page), httpx.AsyncClient() as client:
        text = (await client.get(f"{url}/metrics")).text
        labels = f'cluster="{watched.uuid}",cluster_name="demo",project="{PROJECT}"'
        assert f"jeroboam_cluster_health{{{labels}}} 1\n" in text
        node = f'{{{labels},node="one",source="tests"}}'
        assert f"jeroboam_node_cpu_cores{node} 1.5\n" in text
        assert f"jeroboam_node_memory_bytes{node} 536870912\n" in text
        assert 'jeroboam_certificates_expiring{kind="etcd",days="30"} 0\n' in text
        first = (await watched.engine.store.certificates.list(watched.uuid))[0]
        assert first.kind == "kubernetes"
        name = 'jeroboam_certificate_expiry_timestamp_seconds{kind="kubernetes"}'
        assert f"{name} {first.not_after.timestamp():.15g}\n" in text
        assert (await client.get(f"{url}/")).text == "alive\n"
        away = True
        assert (await client.get(f"{url}/metrics")).status_code == 503
