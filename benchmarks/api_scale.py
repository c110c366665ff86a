"""Reads and creates with 10,000 clusters, in PostgreSQL and in SQLite, beside the bare database.

The bare time is that of the same statements on a connection of our own, plus the time to write the
answer's JSON. It is taken in turns with the requests, so that both meet the same load. What has
been measured is kept in a file, and not measured again; `--forget` begins anew.
"""

import argparse
import asyncio
import functools
import json
import os
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from product import Product, new_template, running_product
from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.models import (
    Cluster,
    ClusterTemplate,
    Node,
    NodeGroup,
    Operation,
    OperationKind,
    OperationState,
    Status,
)
from jeroboam.models.cluster import MASTER
from jeroboam.store.database import Database
from jeroboam.store.query import values_of
from jeroboam.store.tables import ClusterRow, NodeGroupRow, OperationRow, TemplateRow
from tests.integration.store.conftest import running_postgres

CHECKOUT = Path(__file__).parent.parent
PROJECTS = 500
NODES = 3
BATCH = 1000
TARGET = 3.0
WARM_UP = 20


@dataclass(frozen=True)
class Filled:
    """What the database has been filled with.

    Args:
        project: The caller's own, which has half of the clusters.
        cluster: One of them.
    """

    project: str
    cluster: Cluster


async def fill(database: Database, project: str, count: int) -> Filled:
    """Write half of the clusters for ``project``, and the others for many projects."""
    templates = [a_template(project, 0), *(a_template(f"{n:032x}", n) for n in range(PROJECTS))]
    await database.write(insert_all, TemplateRow, templates)
    clusters = []
    for first in range(0, count, BATCH):
        numbers = range(first, min(first + BATCH, count))
        batch = [a_cluster(templates[0 if n % 2 else 1 + n % PROJECTS], n) for n in numbers]
        clusters += batch
        groups = [group for cluster in batch for group in node_groups(cluster)]
        await database.write(insert_all, ClusterRow, batch)
        await database.write(insert_all, NodeGroupRow, groups)
        await database.write(insert_all, OperationRow, [an_operation(one) for one in batch])
    return Filled(project, clusters[-1 if count % 2 == 0 else -2])


async def insert_all(connection: AsyncConnection, table: Any, models: list[Any]) -> None:
    """Write rows."""
    await connection.execute(insert(table), [values_of(model) for model in models])


def a_template(project: str, number: int) -> ClusterTemplate:
    """Return a template of a project."""
    return ClusterTemplate(
        name=f"template-{number}",
        project_id=project,
        user_id="user",
        coe="kubernetes",
        image_id="fake-os",
        labels={"kube_tag": "v1.31.4", "boot_volume_size": "20"},
    )


def a_cluster(template: ClusterTemplate, number: int) -> Cluster:
    """Return a cluster that is up."""
    return Cluster(
        name=f"cluster-{number}",
        project_id=template.project_id,
        user_id="user",
        cluster_template_id=template.uuid,
        driver="fake",
        driver_version="1",
        cloud="devcloud",
        status=Status.CREATE_COMPLETE,
        labels={"kube_tag": "v1.31.4", "boot_volume_size": "20", "number": str(number)},
        api_address="https://192.0.2.1:6443",
        keypair="mykey",
        flavor_id="m1.medium",
    )


def node_groups(cluster: Cluster) -> Iterator[NodeGroup]:
    """Yield the two groups of a cluster, with their nodes."""
    for role, size in ((MASTER, 1), ("worker", NODES)):
        nodes = tuple(
            Node(name=f"{cluster.name}-{role}-{n}", id=f"{n:032x}", addresses=(f"192.0.2.{n}",))
            for n in range(size)
        )
        yield NodeGroup(
            name=f"default-{role}",
            cluster_id=cluster.uuid,
            project_id=cluster.project_id,
            role=role,
            is_default=True,
            node_count=size,
            nodes=nodes,
            node_addresses=tuple(f"192.0.2.{n}" for n in range(size)),
            status=Status.CREATE_COMPLETE,
        )


def an_operation(cluster: Cluster) -> Operation:
    """Return the operation that made a cluster."""
    return Operation(
        kind=OperationKind.CREATE,
        cluster_id=cluster.uuid,
        cluster_name=cluster.name,
        project_id=cluster.project_id,
        user_id="user",
        request_id="req-1",
        state=OperationState.SUCCEEDED,
    )


def bare(database: Database, filled: Filled, answer: Any) -> Callable[[], Awaitable[None]]:
    """Return what reads the rows of a page of 100 clusters and writes the JSON of its answer."""
    page = (
        select(ClusterRow)
        .where(ClusterRow.project_id == filled.project)
        .order_by(ClusterRow.id.asc())
        .limit(100)
    )

    async def statements(connection: AsyncConnection) -> None:
        rows = (await connection.execute(page)).mappings().all()
        uuids = [row["uuid"] for row in rows]
        columns = NodeGroupRow.cluster_id, NodeGroupRow.role, NodeGroupRow.node_count
        groups = select(*columns).where(NodeGroupRow.cluster_id.in_(uuids))
        (await connection.execute(groups)).mappings().all()

    async def work() -> None:
        await database.read(statements)
        json.dumps(answer).encode()

    return work


async def timed(work: Callable[[], Awaitable[Any]]) -> float:
    """Return the milliseconds of one call."""
    started = time.perf_counter()
    await work()
    return 1000 * (time.perf_counter() - started)


def figures(times: list[float]) -> dict[str, float]:
    """Return median, 95th percentile and calls per second of one caller."""
    cuts = statistics.quantiles(times, n=20)
    return {
        "p50": statistics.median(times),
        "p95": cuts[18],
        "per_second": 1000 * len(times) / sum(times),
    }


async def reads(product: Product, database: Database, count: int, rounds: int) -> dict[str, Any]:
    """Fill the database and measure each kind of read."""
    async with product.client() as client:
        filled = await fill(database, await own_project(client), count)
        cluster = filled.cluster
        paths = {
            "list, page of 100": "/clusters?limit=100",
            "detailed list, page of 100": "/clusters/detail?limit=100",
            "page of 100 in the middle": f"/clusters?limit=100&marker={cluster.uuid}",
            "cluster by uuid": f"/clusters/{cluster.uuid}",
            "cluster by name": f"/clusters/{cluster.name}",
            "operations, page of 100": "/operations?limit=100",
            "node groups of a cluster": f"/clusters/{cluster.uuid}/nodegroups",
            "version document": "",
        }

        async def get(path: str) -> Any:
            answer = await client.get(path)
            answer.raise_for_status()
            return answer.json()

        page = await get(paths["list, page of 100"])
        works: dict[str, Callable[[], Awaitable[Any]]] = {
            "bare statements and JSON": bare(database, filled, page),
            **{name: functools.partial(client.get, path) for name, path in paths.items()},
        }
        times: dict[str, list[float]] = {name: [] for name in works}
        for number in range(rounds + WARM_UP):
            for name, work in works.items():
                took = await timed(work)
                if number >= WARM_UP:
                    times[name].append(took)
        return {name: figures(taken) for name, taken in times.items()}


async def own_project(client: httpx.AsyncClient) -> str:
    """Return the project of the caller, as the API sees it."""
    uuid = await new_template(client)
    answer = await client.get(f"/clustertemplates/{uuid}")
    return str(answer.json()["project_id"])


async def memory(product: Product, requests: int) -> dict[str, Any]:
    """Read many times, and compare the memory after a tenth of it with that at the end."""
    async with product.client() as client:

        async def some(number: int) -> None:
            for _ in range(number // 4):
                (await client.get("/clusters?limit=100")).raise_for_status()

        async def all_of(number: int) -> float:
            await asyncio.gather(*(some(number) for _ in range(4)))
            return product.api.memory_info().rss / 1e6

        early = await all_of(requests // 5)
        started = time.perf_counter()
        late = await all_of(requests)
        rate = requests / (time.perf_counter() - started)
        return {"early": early, "late": late, "requests": requests, "per_second": rate}


async def creates(product: Product, count: int) -> dict[str, Any]:
    """Create clusters on the fake driver, four at a time."""
    async with product.client() as client:
        template = await new_template(client)
        times: list[float] = []
        slots = asyncio.Semaphore(4)

        async def create(number: int) -> None:
            body = {
                "name": f"new-{number}",
                "cluster_template_id": template,
                "labels": {"fake_create_seconds": "0"},
            }
            async with slots:
                started = time.perf_counter()
                (await client.post("/clusters", json=body)).raise_for_status()
                times.append(1000 * (time.perf_counter() - started))

        started = time.perf_counter()
        await asyncio.gather(*(create(number) for number in range(count)))
        return figures(times) | {"per_second": count / (time.perf_counter() - started)}


@asynccontextmanager
async def on(kind: str, options: argparse.Namespace) -> AsyncIterator[tuple[Product, Database]]:
    """Run the product on a new database of one kind."""
    with ExitStack() as stack:
        settings = {"JEROBOAM_MONITOR_INTERVAL_SECONDS": "0"}
        if kind == "PostgreSQL":
            server = stack.enter_context(running_postgres())
            settings["JEROBOAM_DATABASE_URL"] = server.url(await server.create_database())
        async with running_product(options.home, options.venv, **settings) as product:
            file = f"sqlite+aiosqlite:///{product.directory / 'jeroboam.sqlite'}"
            database = Database(settings.get("JEROBOAM_DATABASE_URL", file))
            yield product, database
            await database.close()


async def bench(options: argparse.Namespace) -> None:
    """Measure what is not in the file yet, and print all."""
    kept = json.loads(options.file.read_text()) if options.file.exists() else {}
    for kind in ("PostgreSQL", "SQLite"):
        if kind in kept:
            continue
        async with on(kind, options) as (product, database):
            found: dict[str, Any] = {"load": os.getloadavg()[0]}
            found["reads"] = await reads(product, database, options.clusters, options.rounds)
            found["memory"] = await memory(product, options.requests)
            found["creates"] = await creates(product, options.creates)
        kept[kind] = found
        options.file.write_text(json.dumps(kept))
    for kind, found in kept.items():
        show(kind, found)
    show_both(kept)


def show(kind: str, found: dict[str, Any]) -> None:
    """Print the figures of one database, and what the target says."""
    print(f"\n{kind}, load {found['load']:.1f}")
    plain = found["reads"]["bare statements and JSON"]
    for name, one in found["reads"].items():
        ratio = one["p95"] / plain["p95"]
        print(
            f"  {name:30}p50 {one['p50']:7.1f} ms   p95 {one['p95']:7.1f} ms   "
            f"{one['per_second']:6.1f}/s   p95 to bare {ratio:.2f}"
        )
    one = found["creates"]
    print(
        f"  {'create, four at a time':30}p50 {one['p50']:7.1f} ms   p95 {one['p95']:7.1f} ms   "
        f"{one['per_second']:6.1f}/s"
    )
    one = found["memory"]
    print(
        f"  memory of the API {one['early']:.0f} MB, after {one['requests']} more pages of 100 "
        f"{one['late']:.0f} MB; {one['per_second']:.1f}/s, four at a time"
    )
    ratio = found["reads"]["list, page of 100"]["p95"] / plain["p95"]
    print(f"  target: list p95 at most {TARGET} times bare: {ratio:.2f}")


def show_both(kept: dict[str, Any]) -> None:
    """Print PostgreSQL's medians in units of SQLite's."""
    print("\nPostgreSQL's p95 in units of SQLite's")
    pairs = {
        name: [kept[kind]["reads"][name]["p95"] for kind in kept]
        for name in kept["SQLite"]["reads"]
    }
    pairs["create, four at a time"] = [kept[kind]["creates"]["p95"] for kind in kept]
    for name, (postgres, sqlite) in pairs.items():
        print(f"  {name:30}{postgres / sqlite:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=100, help="requests of each kind of read")
    parser.add_argument("--requests", type=int, default=2000, help="while memory is watched")
    parser.add_argument("--creates", type=int, default=60)
    parser.add_argument("--forget", action="store_true")
    parser.add_argument("--home", type=Path, default=CHECKOUT / ".devcloud-bench")
    parser.add_argument("--venv", type=Path, default=CHECKOUT / ".devcloud" / "venv")
    arguments = parser.parse_args()
    arguments.home.mkdir(exist_ok=True)
    arguments.file = arguments.home / "api-scale.json"
    if arguments.forget:
        arguments.file.unlink(missing_ok=True)
    asyncio.run(bench(arguments))
