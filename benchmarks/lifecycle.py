"""What each kind of operation costs, and how late the engine notices that the backend is done.

CPU time is that of the Temporal server and of the worker process together, for one operation; the
ratio is to a create in the same run. The lag is the time from the backend's own note that it has
finished to the end of the operation's record, as a share of the poll interval.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from processes import Meter, free_port, product_process, scratch, temporal_server
from temporalio.client import Client

from jeroboam.drivers.fake.backend import FakeBackend
from jeroboam.drivers.fake.records import Event
from jeroboam.models import (
    Cluster,
    ClusterSpec,
    ClusterTemplate,
    NodeGroup,
    Operation,
    OperationKind,
    Parameters,
    utc_now,
)
from jeroboam.models.cluster import MASTER, WORKER
from jeroboam.models.lifecycle import TRAITS
from jeroboam.settings import Settings
from jeroboam.store import Cipher, Store
from jeroboam.workflows.client import OperationClient

NO_CLOUD = """
clouds:
  jeroboam:
    auth: {auth_url: "http://127.0.0.1:1", username: none, password: none, project_name: none}
"""
OWNER = {"project_id": "bench", "user_id": "bench"}
SECONDS = ("create", "delete", "update", "upgrade", "reboot", "rebuild", "group")
KINDS = (
    OperationKind.CREATE,
    OperationKind.RESIZE,
    OperationKind.UPGRADE,
    OperationKind.SOFT_REBOOT,
    OperationKind.REBUILD,
    OperationKind.CREATE_NODE_GROUP,
    OperationKind.UPDATE_NODE_GROUP,
    OperationKind.DELETE_NODE_GROUP,
    OperationKind.CHECK_HEALTH,
    OperationKind.DELETE,
)


@dataclass
class Bench:
    """The engine, with the fake driver's backend beside it."""

    store: Store
    operations: OperationClient
    backend: FakeBackend
    processes: list[psutil.Process]
    templates: dict[str, ClusterTemplate]

    async def create(self, seconds: float) -> ClusterSpec:
        """Accept and start the creation of a cluster of three nodes."""
        spec = new_cluster(self.templates["v1.30.0"], seconds)
        operation = operation_on(spec, OperationKind.CREATE, Parameters())
        await self.store.clusters.create(spec, operation)
        await self.operations.start(operation)
        await self.ended(operation)
        return await self.store.clusters.spec(spec.cluster.uuid)

    async def run(self, spec: ClusterSpec, kind: OperationKind) -> Operation:
        """Run one operation to its end."""
        current = await self.store.clusters.spec(spec.cluster.uuid)
        operation = operation_on(current, kind, self._parameters(current, kind))
        if kind.deletes:
            await self.operations.delete(current.cluster, operation)
        else:
            await self.store.operations.accept(operation)
            await self.operations.start(operation)
        return await self.ended(operation)

    async def ended(self, operation: Operation) -> Operation:
        """Wait for the end of an operation's record."""
        async with asyncio.timeout(120):
            while True:
                found = await self.store.operations.get(operation.uuid)
                if not found.state.active:
                    assert found.state == "SUCCEEDED", found.reason
                    return found
                await asyncio.sleep(0.05)

    def _parameters(self, spec: ClusterSpec, kind: OperationKind) -> Parameters:
        if kind is OperationKind.RESIZE:
            return Parameters(node_group=spec.group("default-worker").uuid, node_count=3)
        if kind is OperationKind.UPGRADE:
            return Parameters(cluster_template_id=self.templates["v1.31.0"].uuid)
        extra = next((group for group in spec.node_groups if not group.is_default), None)
        if kind is OperationKind.CREATE_NODE_GROUP:
            return Parameters(group=new_group(spec.cluster, "extra", WORKER, is_default=False))
        if kind is OperationKind.UPDATE_NODE_GROUP and extra:
            return Parameters(group=extra.model_copy(update={"max_node_count": 9}))
        if kind is OperationKind.DELETE_NODE_GROUP and extra:
            return Parameters(node_group=extra.uuid)
        return Parameters(batch_size=None)


def operation_on(spec: ClusterSpec, kind: OperationKind, parameters: Parameters) -> Operation:
    """Return a request as the API makes it."""
    return Operation(
        kind=kind,
        cluster_id=spec.cluster.uuid,
        cluster_name=spec.cluster.name,
        request_id="req-bench",
        parameters=parameters,
        rollback=TRAITS[kind].rolls_back,
        **OWNER,
    )


def new_cluster(template: ClusterTemplate, seconds: float) -> ClusterSpec:
    """Return a cluster whose backend takes so many seconds for anything."""
    cluster = Cluster(
        name="bench",
        cluster_template_id=template.uuid,
        driver="fake",
        driver_version="1.0.0",
        cloud="jeroboam",
        labels={**template.labels, **{f"fake_{name}_seconds": str(seconds) for name in SECONDS}},
        **OWNER,
    )
    groups = (new_group(cluster, f"default-{role}", role) for role in (MASTER, WORKER))
    return ClusterSpec(cluster=cluster, template=template, node_groups=tuple(groups))


def new_group(cluster: Cluster, name: str, role: str, *, is_default: bool = True) -> NodeGroup:
    """Return a group of one node."""
    return NodeGroup(
        name=name,
        cluster_id=cluster.uuid,
        role=role,
        is_default=is_default,
        project_id="bench",
        labels=cluster.labels,
    )


async def at_most(count: int, work: Iterator[Awaitable[Any]]) -> list[Any]:
    """Await many things, so many at a time."""
    slots = asyncio.Semaphore(count)

    async def limited(one: Awaitable[Any]) -> Any:
        async with slots:
            return await one

    return await asyncio.gather(*(limited(one) for one in work))


async def costs(bench: Bench, count: int) -> None:
    """Print what each kind costs."""
    specs: list[ClusterSpec] = []
    baseline = 0.0
    await at_most(20, (bench.create(0) for _ in range(5)))
    print(f"{'operation':20}{'CPU-ms':>10}{'to a create':>14}{'per second':>12}{'others':>9}")
    for kind in KINDS:
        with Meter(bench.processes) as meter:
            if kind is OperationKind.CREATE:
                specs = await at_most(20, (bench.create(0) for _ in range(count)))
            else:
                await at_most(20, (bench.run(spec, kind) for spec in specs))
        cpu = 1000 * sum(meter.each) / count
        baseline = baseline or cpu
        print(
            f"{kind.words:20}{cpu:10.1f}{cpu / baseline:14.2f}"
            f"{count / meter.wall:12.1f}{meter.others:9.0%}",
            flush=True,
        )


async def lag(bench: Bench, count: int, interval: float) -> None:
    """Print how late the end of a create is noticed."""
    lags: list[float] = []

    async def one(number: int) -> None:
        await asyncio.sleep(number * interval / count * 3)
        # Ends at all moments of an interval, as real ones do. The pretended backend looks at its
        # clock when it is asked, so its own note of the end would be too late.
        seconds = interval * (2 + number / count)
        spec = await bench.create(seconds)
        journal = bench.backend.read(spec.cluster.uuid).journal
        done = seconds + next(entry.at for entry in journal if entry.event is Event.BEGUN)
        operation = await bench.store.operations.get(str(spec.cluster.operation_id))
        lags.append((operation.ended_at or utc_now()).timestamp() - done)

    await asyncio.gather(*(one(number) for number in range(count)))
    points = statistics.quantiles(lags, n=20)
    print(
        f"lag of {count} creates, poll interval {interval:.1f} s: p50 {points[9]:.2f} s "
        f"({points[9] / interval:.2f} intervals), p95 {points[18]:.2f} s "
        f"({points[18] / interval:.2f} intervals)"
    )


async def main(count: int, interval: float) -> None:
    """Run both measurements."""
    async with scratch() as directory, temporal_server(directory) as (client, server, address):
        for wait, measure in ((0.2, "costs"), (interval, "lag")):
            environment = worker_environment(directory, address, wait)
            async with product_process("worker", directory, environment) as worker:
                bench = await prepare(client, directory, address, [server, worker])
                started = time.monotonic()
                if measure == "costs":
                    await costs(bench, count)
                else:
                    await lag(bench, count, interval)
                print(f"({measure}: {time.monotonic() - started:.0f} s)", flush=True)
                await bench.store.close()


def worker_environment(directory: Path, address: str, interval: float) -> dict[str, str]:
    """Return the settings of the worker process."""
    clouds = directory / "clouds.yaml"
    clouds.write_text(NO_CLOUD)
    return {
        "OS_CLIENT_CONFIG_FILE": str(clouds),
        "JEROBOAM_STATE_DIRECTORY": str(directory),
        "JEROBOAM_TEMPORAL_ADDRESS": address,
        "JEROBOAM_POLL_INTERVAL_SECONDS": str(interval),
        "JEROBOAM_WORKER_HEALTH_PORT": str(free_port()),
        "JEROBOAM_LOG_LEVEL": "WARNING",
    }


async def prepare(
    client: Client, directory: Path, address: str, processes: list[psutil.Process]
) -> Bench:
    """Open the store and add the two templates between which clusters are upgraded."""
    settings = Settings(state_directory=directory, temporal_address=address)
    cipher = Cipher.from_settings(settings)
    store = await Store.open(settings.resolved_database_url, cipher=cipher, migrate=True)
    templates = {}
    for version in ("v1.30.0", "v1.31.0"):
        template = ClusterTemplate(
            name=version,
            coe="kubernetes",
            image_id="none",
            labels={"fake_version": version},
            **OWNER,
        )
        templates[version] = await store.templates.add(template)
    operations = OperationClient(client, store, settings)
    backend = FakeBackend(directory / "fake")
    return Bench(store, operations, backend, processes, templates)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40, help="operations of each kind")
    parser.add_argument("--interval", type=float, default=5.0, help="poll interval of the lag, s")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.count, arguments.interval))
