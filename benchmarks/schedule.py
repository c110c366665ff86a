"""One run of a schedule that means very many clusters: time, history and memory.

The clusters are rows only, in a status from which nothing may be done: the run chooses each of
them, asks whether it may begin, writes down why not, and builds nothing.
"""

import argparse
import asyncio
import sqlite3
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import psutil
from lifecycle import OWNER, new_cluster, operation_on, worker_environment
from processes import product_process, scratch, temporal_server
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle

from jeroboam.models import ClusterTemplate, OperationKind, Parameters, Status, new_uuid
from jeroboam.models.schedule import Schedule, Selector
from jeroboam.models.scheduled_wire import (
    PAGE,
    SCHEDULED_OPERATION_WORKFLOW,
    ScheduledRequest,
    Totals,
)
from jeroboam.settings import Settings
from jeroboam.store import Cipher, Store

CHUNK = 1000


@dataclass
class History:
    """What the runs of one schedule have left in Temporal; a long one goes on in a new run."""

    runs: int = 0
    events: int = 0
    longest: int = 0
    largest: int = 0


async def prepared(directory: Path) -> Store:
    """Open the store and add one cluster, which is the pattern of all others."""
    settings = Settings(state_directory=directory)
    cipher = Cipher.from_settings(settings)
    store = await Store.open(settings.resolved_database_url, cipher=cipher, migrate=True)
    template = ClusterTemplate(name="bench", coe="kubernetes", image_id="none", **OWNER)
    await store.templates.add(template)
    spec = new_cluster(template, 0)
    operation = operation_on(spec, OperationKind.CREATE, Parameters())
    await store.clusters.create(spec, operation)
    await store.operations.abandon(operation.uuid, "A pattern for others.")
    return store


def multiply(database: Path, count: int) -> None:
    """Copy the one cluster and its node groups until there are so many."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.row_factory = sqlite3.Row
        connection.execute("UPDATE clusters SET status = ?", (str(Status.DELETE_FAILED),))
        cluster = dict(connection.execute("SELECT * FROM clusters").fetchone())
        groups = [dict(row) for row in connection.execute("SELECT * FROM node_groups")]
        uuids = [new_uuid() for _ in range(count - 1)]
        _insert(
            connection,
            "clusters",
            (cluster | {"uuid": uuid, "name": f"bench-{uuid[:8]}"} for uuid in uuids),
        )
        _insert(
            connection,
            "node_groups",
            (
                group | {"uuid": new_uuid(), "cluster_id": uuid}
                for uuid in uuids
                for group in groups
            ),
        )


def _insert(connection: sqlite3.Connection, table: str, rows: Iterator[dict[str, object]]) -> None:
    while chunk := list(islice(rows, CHUNK)):
        names = [name for name in chunk[0] if name != "id"]
        marks = ", ".join(f":{name}" for name in names)
        connection.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", chunk)


async def choose_all(store: Store, selector: Selector) -> tuple[int, float, float]:
    """Choose as a run does, page by page; return clusters, seconds, and the longest page's."""
    after, found, longest = 0, 0, 0.0
    started = time.monotonic()
    while True:
        began = time.monotonic()
        chosen = await store.schedules.choose(selector, after, PAGE)
        longest = max(longest, time.monotonic() - began)
        found, after = found + len(chosen.clusters), chosen.after
        if chosen.exhausted:
            return found, time.monotonic() - started, longest


async def selection(store: Store) -> None:
    """Print what it takes to choose: all clusters, and none of them by a label."""
    for words, selector in (
        ("all of them", Selector()),
        ("none, by a label", Selector(labels={"tier": "gold"})),
    ):
        found, seconds, longest = await choose_all(store, selector)
        tracemalloc.start()
        await choose_all(store, selector)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        print(
            f"choose {words:18}{found:7} clusters in {seconds:6.2f} s, longest page "
            f"{longest:.2f} s, peak {peak:.1f} MB",
            flush=True,
        )


async def begin(
    store: Store, client: Client, name: str, selector: Selector, parallel: int
) -> WorkflowHandle[object, Totals]:
    """Start a run of a new schedule, as Temporal's scheduler does."""
    schedule = Schedule(
        name=name,
        kind=OperationKind.REBUILD,
        selector=selector,
        cron="0 0 1 1 *",
        max_parallel=parallel,
        **OWNER,
    )
    await store.schedules.add(schedule, project_limit=2)
    return await client.start_workflow(
        SCHEDULED_OPERATION_WORKFLOW,
        ScheduledRequest(schedule_id=schedule.uuid),
        id=schedule.temporal_id,
        task_queue=Settings().task_queue,
        result_type=Totals,
    )


async def run(store: Store, client: Client, worker: psutil.Process, parallel: int) -> None:
    """Run a schedule over all clusters and print its figures."""
    # One that means no cluster ends when the worker is up and has loaded everything.
    warm = await begin(store, client, "warm", Selector(project_id="nobody"), parallel)
    await warm.result()
    before, peak = worker.memory_info().rss, 0
    cpu, started = sum(worker.cpu_times()[:2]), time.monotonic()
    handle = await begin(store, client, "bench", Selector(), parallel)
    result = asyncio.create_task(handle.result())
    while not result.done():
        await asyncio.wait([result], timeout=1)
        peak = max(peak, worker.memory_info().rss)
    seconds, cpu = time.monotonic() - started, sum(worker.cpu_times()[:2]) - cpu
    totals, history = await result, await history_of(client, handle.id)
    print(f"run, {parallel} at a time: {totals.skipped} left out in {seconds:.0f} s")
    print(f"  worker: {1000 * cpu / totals.skipped:.1f} CPU-ms a cluster")
    print(f"  worker: {before / 1e6:.0f} MB before, {peak / 1e6:.0f} MB at most")
    print(f"  {history.runs} runs, {history.events} events, {history.events / totals.skipped:.1f}")
    print(f"  longest history {history.longest} events, largest {history.largest / 1e6:.2f} MB")


async def history_of(client: Client, ident: str) -> History:
    """Add up the histories of a run and of those in which it went on."""
    found = History()
    described = await client.get_workflow_handle(ident).describe()
    first = described.raw_description.workflow_execution_info.first_run_id
    run_id: str | None = first
    while run_id:
        handle = client.get_workflow_handle(ident, run_id=run_id)
        info = (await handle.describe()).raw_description.workflow_execution_info
        found.runs += 1
        found.events += info.history_length
        found.longest = max(found.longest, info.history_length)
        found.largest = max(found.largest, info.history_size_bytes)
        run_id = await _next_run(handle, info.status)
    return found


async def _next_run(handle: WorkflowHandle[object, object], status: int) -> str | None:
    """Return the run in which one went on."""
    if status != WorkflowExecutionStatus.CONTINUED_AS_NEW:
        return None
    last = [event async for event in handle.fetch_history_events()][-1]
    return last.workflow_execution_continued_as_new_event_attributes.new_execution_run_id


async def main(count: int, parallel: int) -> None:
    """Run both measurements."""
    async with scratch() as directory:
        store = await prepared(directory)
        multiply(directory / "jeroboam.sqlite", count)
        await selection(store)
        async with temporal_server(directory) as (client, _, address):
            environment = worker_environment(directory, address, 5.0)
            async with product_process("worker", directory, environment) as worker:
                await run(store, client, worker, parallel)
        await store.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="clusters")
    parser.add_argument("--parallel", type=int, default=20, help="clusters at a time")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.count, arguments.parallel))
