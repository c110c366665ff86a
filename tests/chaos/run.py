"""A run of the fault harness: many clusters at once in one environment."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx

from jeroboam.models import OperationKind, utc_now
from jeroboam.models.wire import workflow_id
from jeroboam.store import Page, Scope
from tests.chaos import fake_world
from tests.chaos.crowd import Crowd
from tests.chaos.environment import Environment, running
from tests.chaos.report import Report
from tests.chaos.rules import Act
from tests.chaos.sweep import Extent
from tests.chaos.tenant import Tenant
from tests.chaos.world import Opened

REQUEST_SECONDS = 20.0
CLOSING_TRIES = 20
API_VERSION = {"OpenStack-API-Version": "container-infra 1.14"}


@dataclass(frozen=True)
class Options:
    """What is asked of a run.

    Args:
        rounds: How many attempts of operations, at least.
        lanes: How many clusters live at the same time.
        operations: How many operations lie between a cluster's creation and its removal.
        first: Number of the first cluster, to go on with an earlier run.
        seconds: When to begin no cluster any more.
        postgres: Whether the database is a process that can be killed.
        crashes: What may be killed; by default all that the world has.
        world: Where the clusters live.
        sweep: What to go through case by case, instead of rounds at random.
    """

    rounds: int
    seed: str
    directory: Path
    lanes: int = 16
    operations: int = 4
    first: int = 0
    seconds: float = 3600.0
    port_base: int = 22000
    postgres: bool = True
    quiet: bool = False
    crashes: Sequence[Act] | None = None
    world: Opened = fake_world.opened
    sweep: Extent | None = None


async def run(options: Options) -> tuple[Report, str]:
    """Run until enough rounds are done; return the report and its table."""
    report = Report(options.directory / "report", options.seed, quiet=options.quiet)
    async with _environment(options) as environment:
        world = environment.world
        allowed = world.crashes if options.crashes is None else options.crashes
        crashes = [act for act in allowed if options.postgres or act is not Act.DATABASE]
        async with httpx.AsyncClient(
            base_url=environment.url, headers=API_VERSION, auth=world.auth, timeout=REQUEST_SECONDS
        ) as http:
            tenant = Tenant(http, environment.store)
            crowd = Crowd(
                environment=environment,
                tenant=tenant,
                report=report,
                templates=await world.templates(tenant),
                seed=options.seed,
                lanes=options.lanes,
                next=options.first,
                seconds=options.seconds,
            )
            if options.sweep:
                await crowd.sweep(options.sweep.without(set(world.crashes) - set(crashes)))
            else:
                await crowd.draw(options.rounds, options.operations, crashes)
            await _inspect(environment, tenant, report)
        return report, report.table(environment.crashes)


@asynccontextmanager
async def _environment(options: Options) -> AsyncIterator[Environment]:
    """Yield the processes in their world; the world ends last."""
    async with AsyncExitStack() as stack:
        world = await asyncio.to_thread(stack.enter_context, options.world(options.directory))
        yield await stack.enter_async_context(
            running(
                options.directory,
                options.seed,
                world,
                port_base=options.port_base,
                postgres=options.postgres,
            )
        )


async def _inspect(environment: Environment, tenant: Tenant, report: Report) -> None:
    """Look for what no cluster's own rounds would see: whatever is there must be accounted for.

    Clusters with a problem were left as they were.
    """
    spared = {f"chaos-{one.cluster}" for one in report.rounds if one.problems}
    page = Page(limit=10_000)
    clusters = await tenant.read(lambda: environment.store.clusters.list(Scope(None), page))
    left = {one.uuid for one in clusters if one.name in spared}
    problems = [f"lost: {one.name} was never deleted" for one in clusters if one.uuid not in left]
    problems += await environment.world.unaccounted([one for one in clusters if one.uuid in left])
    later = utc_now() + timedelta(hours=1)
    for operation in await tenant.read(lambda: environment.store.operations.unfinished(later)):
        if operation.cluster_id not in left:
            problems.append(f"stuck: {operation.kind} {operation.uuid} is {operation.state}")
    problems += [f"stuck: run {run} is open" for run in await _open_runs(environment, left)]
    if problems:
        report.found(-1, OperationKind.DELETE, "after all rounds", problems)


async def _open_runs(environment: Environment, left: set[str]) -> list[str]:
    """Return the runs of clusters that are gone; a moment is given to those that are closing."""
    client = await environment.temporal.client()
    for _ in range(CLOSING_TRIES):
        found = [
            run.id
            async for run in client.list_workflows("ExecutionStatus = 'Running'")
            if run.id.startswith(workflow_id(""))
            and run.id.removeprefix(workflow_id("")) not in left
        ]
        if not found:
            return []
        await asyncio.sleep(1)
    return found
