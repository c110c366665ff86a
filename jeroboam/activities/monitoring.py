"""Regular looks at clusters: which are due, and one look at one of them."""

import random
from datetime import timedelta

import structlog
from temporalio import activity

from jeroboam.activities import threads
from jeroboam.activities.dependencies import Dependencies, context_of
from jeroboam.drivers.base import SupportsHealth, SupportsMonitor
from jeroboam.errors import DriverNotFoundError, JeroboamError, NotFoundError
from jeroboam.models import ClusterSpec, Health, HealthStatus, utc_now
from jeroboam.models.monitoring import Monitored, Observation, pause
from jeroboam.models.monitoring_wire import Due, MonitorRequest

MOST_AT_ONCE = 200
"""Clusters of one round; those behind them have their turn in the next one."""

LOOK_SECONDS = 60.0

log = structlog.get_logger(__name__)


class MonitoringActivities:
    """Looks at clusters and records what it finds.

    Args:
        dependencies: What activities are made of.
        interval: How often each cluster is looked at.
    """

    def __init__(self, dependencies: Dependencies, interval: timedelta) -> None:
        self._dependencies = dependencies
        self._store = dependencies.store
        self._interval = interval

    @activity.defn
    async def due_clusters(self) -> Due:
        """Return the clusters whose time has come."""
        found = await self._store.monitoring.due(utc_now(), MOST_AT_ONCE)
        return Due(
            clusters=tuple(
                MonitorRequest(cluster_id=uuid, queue=self._queue(driver)) for uuid, driver in found
            )
        )

    @activity.defn
    async def monitor_cluster(self, request: MonitorRequest) -> str:
        """Look at a cluster; whatever goes wrong is what was found, and no error."""
        try:
            spec = await self._store.clusters.spec(request.cluster_id)
        except NotFoundError:
            return "gone"
        elsewhere = self._dependencies.drivers.runs_elsewhere(spec.cluster.driver)
        seen = _as_before(spec) if elsewhere else await self._look(spec)
        await self._record(spec, seen)
        return str(seen.health.status)

    @activity.defn
    async def note_silence(self, request: MonitorRequest) -> None:
        """Record that no worker has looked at a cluster: its driver's have not answered."""
        try:
            spec = await self._store.clusters.spec(request.cluster_id)
        except NotFoundError:
            return
        reason = f"no worker of the driver {spec.cluster.driver} has looked in time"
        await self._record(spec, _unknown(reason))

    def _queue(self, driver: str) -> str | None:
        try:
            return self._dependencies.drivers.entry(driver).queue
        except DriverNotFoundError:
            # Any worker can say that nobody knows it.
            return None

    async def _look(self, spec: ClusterSpec) -> Observation:
        try:
            driver = self._dependencies.drivers.installed(spec.cluster.driver)
            context = context_of(self._dependencies, spec, f"{spec.cluster.uuid}:monitor")
            if isinstance(driver, SupportsMonitor):
                return await threads.call(driver.monitor, context, spec, within=LOOK_SECONDS)
            if isinstance(driver, SupportsHealth):
                check = driver.check_health
                health = await threads.call(check, context, spec, within=LOOK_SECONDS)
                return Observation(health=health)
        except threads.StillRunning:
            return _unknown(f"it did not answer within {LOOK_SECONDS:g} seconds")
        except JeroboamError as error:
            return _unknown(error.message)
        except Exception as error:
            log.exception("monitor_defect", cluster_id=spec.cluster.uuid)
            # Its text may hold anything, a secret too.
            return _unknown(f"a defect in the driver: {type(error).__name__}")
        return _unknown(f"the driver {driver.name} tells no health")

    async def _record(self, spec: ClusterSpec, seen: Observation) -> None:
        now, uuid = utc_now(), spec.cluster.uuid
        before = await self._store.monitoring.get(uuid)
        blind = seen.health.status is HealthStatus.UNKNOWN
        failures = (before.failures if before else 0) + 1 if blind else 0
        usage, usage_at = (before.usage, before.usage_at) if before else (None, None)
        if seen.usage is not None:
            usage, usage_at = seen.usage, now
        chance = random.random()  # noqa: S311 - it keeps clusters apart, and no secret
        found = Monitored(
            cluster_id=uuid,
            checked_at=now,
            next_at=now + pause(self._interval, failures, chance),
            failures=failures,
            usage=usage,
            usage_at=usage_at,
        )
        await self._store.monitoring.record(found, seen.health)


def _as_before(spec: ClusterSpec) -> Observation:
    """Return what is recorded: a driver in a worker of its own is asked by operations alone."""
    status = spec.cluster.health_status or HealthStatus.UNKNOWN
    return Observation(health=Health(status=status, reasons=spec.cluster.health_status_reason))


def _unknown(reason: str) -> Observation:
    return Observation(health=Health(status=HealthStatus.UNKNOWN, reasons={"cluster": reason}))
