"""How often lists ask the database: as often for a hundred items as for one."""

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute
from sqlalchemy import event, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.api.http.app import ROUTERS
from jeroboam.models import Node, OperationKind, OperationState, Status, new_uuid, utc_now
from jeroboam.models.quota import Quota
from jeroboam.models.schedule import RunState, Schedule, ScheduleRun
from jeroboam.settings import Settings
from jeroboam.store import Cipher, Store
from jeroboam.store.query import values_of
from jeroboam.store.sqlite import SqliteTransactions
from jeroboam.store.tables import (
    ClusterRow,
    NodeGroupRow,
    OperationRow,
    QuotaRow,
    ScheduleRow,
    ScheduleRunRow,
    TemplateRow,
)
from tests.integration.api.cloud import PROJECT, RecordingOperations
from tests.integration.api.conftest import Service, serving
from tests.integration.api.drivers import registry
from tests.integration.store import builders

SIZES = (1, 10, 100)

LISTS = {
    "/v1/clustertemplates": "clustertemplates",
    "/v1/clustertemplates/detail": "clustertemplates",
    "/v1/clusters": "clusters",
    "/v1/clusters/detail": "clusters",
    "/v1/clusters/{cluster}/nodegroups": "nodegroups",
    "/v1/clusters/{cluster}/nodegroups/{group}/nodes": "nodes",
    "/v1/clusters/{cluster}/nodes": "nodes",
    "/v1/clusters/{cluster}/operations": "operations",
    "/v1/operations": "operations",
    "/v1/schedules": "schedules",
    "/v1/schedules/{ident}/runs": "runs",
    "/v1/quotas?all_tenants=True": "quotas",
}
EMPTY = {"/v1/federations", "/v1/federations/detail"}
"""Nobody can make any, so there is no table."""


@pytest.fixture
async def service(database: Path, tmp_path: Path) -> AsyncIterator[Service]:
    path = tmp_path / "jeroboam.sqlite"
    shutil.copy(database, path)
    settings = Settings(state_directory=tmp_path, cloud="testcloud", list_limit=1000)
    store = await Store.open(settings.resolved_database_url, hooks_cipher=Cipher(bytes(32)))
    async with serving(settings, store, RecordingOperations(store), registry()) as service:
        yield service
    await store.close()


async def add(connection: AsyncConnection, table: Any, models: list[Any]) -> None:
    await connection.execute(insert(table), [values_of(model) for model in models])


async def fill(service: Service, count: int) -> dict[str, str]:
    """Store ``count`` of everything, each cluster of a template of its own; return ids."""
    numbers = range(count)
    templates = [builders.a_template(name=f"t{n}", project_id=PROJECT) for n in numbers]
    specs = [
        builders.a_spec(
            template, name=f"c{n}", project_id=PROJECT, status=Status.CREATE_IN_PROGRESS
        )
        for n, template in enumerate(templates)
    ]
    first = specs[0].cluster
    nodes = tuple(Node(name=f"n{n}", id=f"s{n}") for n in numbers)
    more = [builders.a_group(first, name=f"more-{n}") for n in numbers]
    more[0] = more[0].model_copy(update={"nodes": nodes})
    schedules = [
        Schedule(
            name=f"s{n}",
            project_id=PROJECT,
            user_id="u1",
            kind=OperationKind.CHECK_HEALTH,
            cluster_id=first.uuid,
            cron="0 3 * * *",
        )
        for n in numbers
    ]
    runs = [
        ScheduleRun(
            uuid=new_uuid(),
            schedule_id=schedules[0].uuid,
            workflow_id=f"run-{n}",
            scheduled_at=utc_now(),
            cluster_id=spec.cluster.uuid,
            cluster_name=spec.cluster.name,
            state=RunState.SKIPPED,
        )
        for n, spec in enumerate(specs)
    ]
    rows: dict[Any, list[Any]] = {
        TemplateRow: templates,
        ClusterRow: [spec.cluster for spec in specs],
        NodeGroupRow: [
            *(group for spec in specs for group in spec.node_groups),
            *more,
        ],
        OperationRow: [
            *(builders.an_operation(spec.cluster) for spec in specs),
            *(builders.an_operation(first, state=OperationState.SUCCEEDED) for _ in numbers),
        ],
        ScheduleRow: schedules,
        QuotaRow: [Quota(project_id=f"p{n}", hard_limit=n) for n in numbers],
        ScheduleRunRow: runs,
    }
    for table, models in rows.items():
        await service.store._database.write(add, table, models)
    return {"cluster": first.uuid, "ident": schedules[0].uuid, "group": more[0].uuid}


@contextmanager
def counted(store: Store) -> Iterator[list[str]]:
    """Collect the statements that are sent to the database."""
    transactions = store._database._transactions
    assert isinstance(transactions, SqliteTransactions)
    found: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        found.append(statement)

    event.listen(transactions._engine, "before_cursor_execute", note)
    yield found
    event.remove(transactions._engine, "before_cursor_execute", note)


@pytest.mark.parametrize("path", LISTS)
async def test_a_longer_page_needs_no_more_statements(service: Service, path: str) -> None:
    """With one, ten and a hundred items on the page the database is asked as often."""
    ids = await fill(service, max(SIZES))
    counts = {}
    for size in SIZES:
        with counted(service.store) as statements:
            url = httpx.URL(path.format(**ids)).copy_merge_params({"limit": size})
            answer = await service.call("GET", str(url), token="admin-token")
        assert answer.status_code == 200, answer.text
        assert len(answer.json()[LISTS[path]]) >= size
        counts[size] = len(statements)
    assert len(set(counts.values())) == 1, counts
    assert counts[1] <= 8, statements


def test_every_list_is_counted() -> None:
    """A route that pages is in the table above."""
    routes = [one for router in ROUTERS for one in router.routes if isinstance(one, APIRoute)]
    paged = {
        route.path
        for route in routes
        if any(
            parameter.name == "limit"
            for dependant in route.dependant.dependencies
            for parameter in dependant.query_params
        )
    }
    counted = {path.partition("?")[0].replace("{group}", "{ident}") for path in LISTS}
    assert paged == counted | EMPTY
