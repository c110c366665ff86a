"""What one create costs, as a ratio to a bare workflow with as many activities.

Both run on the same server in the same minutes, in turns; CPU time is that of the server and of
the worker process together, so that a busy machine changes it little.
"""

import argparse
import asyncio
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psutil
from bare import QUEUE, Bare
from processes import (
    Meter,
    compiling_environment,
    free_port,
    product_process,
    scratch,
    temporal_server,
)
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

from jeroboam.models import (
    Cluster,
    ClusterSpec,
    ClusterTemplate,
    NodeGroup,
    Operation,
    OperationKind,
)
from jeroboam.models.cluster import MASTER, WORKER
from jeroboam.models.wire import workflow_id
from jeroboam.settings import Settings
from jeroboam.store import Cipher, Store
from jeroboam.workflows.client import OperationClient

NO_CLOUD = """
clouds:
  jeroboam:
    auth: {auth_url: "http://127.0.0.1:1", username: none, password: none, project_name: none}
"""
"""The worker wants an entry; the fake driver never calls it."""

OWNER = {"project_id": "bench", "user_id": "bench"}


@dataclass
class Sample:
    """One round of one kind of workflow."""

    cpu_ms: float
    server_ms: float
    worker_ms: float
    per_second: float
    others: float


def new_cluster(template: ClusterTemplate) -> tuple[ClusterSpec, Operation]:
    """Return a cluster of the fake driver which is done as soon as it is asked."""
    cluster = Cluster(
        name="bench",
        cluster_template_id=template.uuid,
        driver="fake",
        driver_version="1.0.0",
        cloud="jeroboam",
        labels={"fake_create_seconds": "0"},
        **OWNER,
    )
    groups = tuple(
        NodeGroup(
            name=f"default-{role}",
            cluster_id=cluster.uuid,
            role=role,
            is_default=True,
            project_id="bench",
        )
        for role in (MASTER, WORKER)
    )
    operation = Operation(
        kind=OperationKind.CREATE,
        cluster_id=cluster.uuid,
        cluster_name=cluster.name,
        request_id="req-bench",
        **OWNER,
    )
    return ClusterSpec(cluster=cluster, template=template, node_groups=groups), operation


async def measure(
    count: int, one: Callable[[], Awaitable[None]], processes: list[psutil.Process]
) -> Sample:
    """Run ``count`` workflows, 20 at a time, and return their cost."""
    slots = asyncio.Semaphore(20)

    async def limited() -> None:
        async with slots:
            await one()

    with Meter(processes) as meter:
        await asyncio.gather(*(limited() for _ in range(count)))
    server, worker = (1000 * seconds / count for seconds in meter.each)
    return Sample(server + worker, server, worker, count / meter.wall, meter.others)


async def shape_of(client: Client, cluster_id: str) -> tuple[int, int]:
    """Return how many activities and local activities a create really executed."""
    history = await client.get_workflow_handle(workflow_id(cluster_id)).fetch_history()
    events = Counter(event.event_type for event in history.events)
    return (
        events[EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED],
        events[EventType.EVENT_TYPE_MARKER_RECORDED],
    )


async def bench(count: int, rounds: int) -> None:
    """Take the rounds in turns and print them."""
    async with scratch() as directory, temporal_server(directory) as (client, server, address):
        settings = Settings(
            state_directory=directory, temporal_address=address, poll_interval_seconds=0.2
        )
        clouds = directory / "clouds.yaml"
        clouds.write_text(NO_CLOUD)
        environment = {
            "OS_CLIENT_CONFIG_FILE": str(clouds),
            "JEROBOAM_STATE_DIRECTORY": str(directory),
            "JEROBOAM_TEMPORAL_ADDRESS": address,
            "JEROBOAM_POLL_INTERVAL_SECONDS": "0.2",
            "JEROBOAM_WORKER_HEALTH_PORT": str(free_port()),
            "JEROBOAM_LOG_LEVEL": "WARNING",
        }
        store = await Store.open(
            settings.resolved_database_url, cipher=Cipher.from_settings(settings), migrate=True
        )
        operations = OperationClient(client, store, settings)
        template = ClusterTemplate(name="bench", coe="kubernetes", image_id="none", **OWNER)
        await store.templates.add(template)
        made: list[str] = []

        async def create() -> None:
            spec, operation = new_cluster(template)
            await store.clusters.create(spec, operation)
            await operations.start(operation)
            await client.get_workflow_handle(workflow_id(spec.cluster.uuid)).result()
            made.append(spec.cluster.uuid)

        async with product_process("worker", directory, environment) as worker:
            await measure(5, create, [server, worker])
            activities, local_activities = await shape_of(client, made[-1])
            print(f"a create: {activities} activities, {local_activities} local activities")

            async def bare() -> None:
                await client.execute_workflow(
                    Bare.run,
                    args=[activities, local_activities],
                    id=f"bare-{uuid4()}",
                    task_queue=QUEUE,
                )

            script = str(Path(__file__).with_name("bare.py"))
            command = [sys.executable, script, address]
            baseline = subprocess.Popen(command, env=compiling_environment())
            try:
                samples = await take(count, rounds, create, bare, server, worker, baseline.pid)
            finally:
                baseline.kill()
                baseline.wait()
        await store.close()
    report(samples)


async def take(
    count: int,
    rounds: int,
    create: Callable[[], Awaitable[None]],
    bare: Callable[[], Awaitable[None]],
    server: psutil.Process,
    worker: psutil.Process,
    baseline: int,
) -> list[tuple[Sample, Sample]]:
    """Return the rounds, each a create's and a bare workflow's figures."""
    bare_worker = psutil.Process(baseline)
    await measure(5, bare, [server, bare_worker])
    samples = []
    for number in range(rounds):
        started = time.monotonic()
        pair = (
            await measure(count, create, [server, worker]),
            await measure(count, bare, [server, bare_worker]),
        )
        samples.append(pair)
        print(f"round {number + 1}: {time.monotonic() - started:.1f} s", flush=True)
    return samples


def report(samples: list[tuple[Sample, Sample]]) -> None:
    """Print medians and ratios."""
    print(f"{'':8}{'CPU-ms each':>14}{'server':>10}{'worker':>10}{'per second':>14}{'others':>10}")
    for name, index in (("create", 0), ("bare", 1)):
        cpu, server, worker, rate, others = (
            statistics.median(getattr(pair[index], field) for pair in samples)
            for field in ("cpu_ms", "server_ms", "worker_ms", "per_second", "others")
        )
        print(f"{name:8}{cpu:14.1f}{server:10.1f}{worker:10.1f}{rate:14.1f}{others:10.0%}")
    ratios = [create.cpu_ms / bare.cpu_ms for create, bare in samples]
    print(f"ratio of CPU, create to bare: {statistics.median(ratios):.2f} (target: at most 1.5)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="creates in a round")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    asyncio.run(bench(arguments.count, arguments.rounds))
