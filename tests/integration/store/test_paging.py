"""Pages: every row once, in a stable order, on both databases alike."""

from datetime import UTC, datetime, timedelta

import pytest

from jeroboam.errors import InvalidRequestError, NotFoundError
from jeroboam.models import new_uuid
from jeroboam.store import Page, Scope, Store
from tests.integration.store.builders import OTHER, PROJECT, a_spec, a_template, an_operation

MINE = Scope(PROJECT)
SIZES = [None, 20, None, 10, 20, 10, None]


@pytest.fixture
async def uuids(store: Store) -> list[str]:
    """Clusters with equal and missing values to sort by, in the order of their making."""
    template = await store.templates.add(a_template())
    made = []
    for number, size in enumerate(SIZES):
        at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number // 2)
        spec = a_spec(template, docker_volume_size=size, created_at=at, name=f"c{number % 2}")
        await store.clusters.create(spec, an_operation(spec.cluster))
        made.append(spec.cluster.uuid)
    return made


async def _walk(store: Store, limit: int, sort_key: str, sort_dir: str) -> list[str]:
    found: list[str] = []
    marker = None
    while True:
        page = Page(limit, marker=marker, sort_key=sort_key, sort_dir=sort_dir)
        clusters = await store.clusters.list(MINE, page)
        found += [cluster.uuid for cluster in clusters]
        if len(clusters) < limit:
            return found
        marker = found[-1]


@pytest.mark.parametrize("sort_key", ["id", "docker_volume_size", "created_at", "name", "status"])
@pytest.mark.parametrize("sort_dir", ["asc", "desc"])
async def test_pages_cover_the_list(
    store: Store, uuids: list[str], sort_key: str, sort_dir: str
) -> None:
    """Pages of any size put together are the whole list, in its order, without repetition."""
    whole = await _walk(store, 100, sort_key, sort_dir)
    assert sorted(whole) == sorted(uuids)
    for limit in (1, 2, 3):
        assert await _walk(store, limit, sort_key, sort_dir) == whole


async def test_order(store: Store, uuids: list[str]) -> None:
    """Ties keep the order of creation, and empty values come first, also on PostgreSQL."""
    numbered = [(size or 0, number) for number, size in enumerate(SIZES)]
    expected = [uuids[number] for _, number in sorted(numbered)]
    assert await _walk(store, 100, "docker_volume_size", "asc") == expected
    assert await _walk(store, 100, "docker_volume_size", "desc") == expected[::-1]
    assert await _walk(store, 100, "id", "asc") == uuids


@pytest.mark.parametrize(
    "page",
    [
        Page(5, sort_key="nonsense"),
        Page(5, sort_key="labels"),
        Page(5, sort_key="id; DROP TABLE clusters"),
        Page(5, sort_dir="up"),
        Page(0),
        Page(-1),
    ],
)
async def test_refuses_impossible_pages(store: Store, page: Page) -> None:
    """A sort key that is no sortable column, a wrong direction and no limit are the caller's."""
    with pytest.raises(InvalidRequestError):
        await store.clusters.list(MINE, page)


async def test_refuses_foreign_markers(store: Store, uuids: list[str]) -> None:
    """A marker must be a row that the caller may see."""
    for scope, marker in ((MINE, new_uuid()), (Scope(OTHER), uuids[0])):
        with pytest.raises(NotFoundError, match=marker):
            await store.clusters.list(scope, Page(5, marker=marker))


async def test_refuses_sorting_by_steps(store: Store) -> None:
    """Columns with documents have no order."""
    with pytest.raises(InvalidRequestError, match="steps"):
        await store.operations.list(MINE, Page(5, sort_key="steps"))
