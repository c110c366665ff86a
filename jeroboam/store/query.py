"""Who may see which rows, and in which pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar
from uuid import UUID

from sqlalchemy import (
    JSON,
    ColumnElement,
    Executable,
    Select,
    and_,
    or_,
    select,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.errors import AmbiguousNameError, InvalidRequestError, NotFoundError
from jeroboam.models import Model
from jeroboam.store.columns import Document
from jeroboam.store.tables import Base

Row: TypeAlias = Mapping[Any, Any]
M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class Scope:
    """Who may see a row.

    Args:
        project_id: The caller's project; ``None`` stands for every project (an administrator).
    """

    project_id: str | None


@dataclass(frozen=True)
class Page:
    """One page of a list.

    Args:
        limit: The most rows to return.
        marker: uuid of the last row of the page before, or its number where rows have no uuid.
        sort_key: A column's name.
        sort_dir: ``asc`` or ``desc``. Empty values come first in ascending order.
    """

    limit: int
    marker: str | int | None = None
    sort_key: str = "id"
    sort_dir: str = "asc"


def values_of(model: Model) -> dict[str, Any]:
    """Return a row's values; the database numbers the row itself."""
    return model.model_dump(exclude={"id"})


def model_of(model: type[M], table: type[Base], row: Row) -> M:
    """Return the model that ``row`` holds."""
    columns = table.__table__.c
    return model.model_validate({name: row[columns[name]] for name in model.model_fields})


def identified(table: Any, ident: str) -> ColumnElement[bool]:
    """Match the row whose uuid, or failing that whose name, is ``ident``."""
    column = table.uuid if _is_uuid(ident) else table.name
    return column == (ident.lower() if _is_uuid(ident) else ident)  # type: ignore[no-any-return]


async def execute(connection: AsyncConnection, statement: Executable) -> int:
    """Execute ``statement`` and return how many rows it changed."""
    return int((await connection.execute(statement)).rowcount)


async def scalar(connection: AsyncConnection, statement: Select[Any]) -> Any:
    """Return the first value of ``statement``."""
    return await connection.scalar(statement)


async def fetch_all(connection: AsyncConnection, statement: Select[Any]) -> Sequence[Row]:
    """Return all rows of ``statement``."""
    return (await connection.execute(statement)).mappings().all()


async def fetch_one(
    connection: AsyncConnection, statement: Select[Any], noun: str, ident: str
) -> Row:
    """Return the only row of ``statement``.

    Args:
        noun: What is looked for, as the message calls it.
        ident: What the user called it.
    """
    rows = await fetch_all(connection, statement.limit(2))
    if not rows:
        raise NotFoundError(f"{noun} {ident} could not be found.")
    if len(rows) > 1:
        raise AmbiguousNameError(
            f"More than one {noun.lower()} is named {ident}. Use the uuid instead."
        )
    return rows[0]


async def fetch_page(
    connection: AsyncConnection, table: Any, visible: ColumnElement[bool], page: Page, noun: str
) -> Sequence[Row]:
    """Return the rows of one page: two statements at most, whatever its size.

    Args:
        visible: Which rows the list consists of; the marker must be one of them.

    Raises:
        InvalidRequestError: The sort key, direction or limit is impossible.
        NotFoundError: The marker is not in the list.
    """
    column, descending = _sorting(table, page)
    statement = select(table).where(visible)
    if page.marker is not None:
        identity = table.id if isinstance(page.marker, int) else table.uuid
        marker = select(column.label("value"), table.id).where(visible, identity == page.marker)
        last = (await connection.execute(marker)).one_or_none()
        if last is None:
            raise NotFoundError(f"Marker {page.marker}: no such {noun.lower()}.")
        statement = statement.where(
            _beyond(column, table.id, last.value, last.id, descending=descending)
        )
    order = (
        (column.desc().nulls_last(), table.id.desc())
        if descending
        else (column.asc().nulls_first(), table.id.asc())
    )
    return await fetch_all(connection, statement.order_by(*order).limit(page.limit))


def _sorting(table: Any, page: Page) -> tuple[Any, bool]:
    if page.limit < 1:
        raise InvalidRequestError("Limit must be positive.")
    if page.sort_dir not in {"asc", "desc"}:
        raise InvalidRequestError(f"Sort direction '{page.sort_dir}': use 'asc' or 'desc'.")
    column = table.__table__.c.get(page.sort_key)
    if column is None or isinstance(column.type, (JSON, Document)):
        raise InvalidRequestError(f"The sort key value '{page.sort_key}' is invalid for sorting.")
    return column, page.sort_dir == "desc"


def _beyond(
    column: Any, identity: Any, value: Any, marker_id: int, *, descending: bool
) -> ColumnElement[bool]:
    """Match what comes after the marker, in the order of ``fetch_page``."""
    further = identity < marker_id if descending else identity > marker_id
    if value is None:
        ties = and_(column.is_(None), further)
        return ties if descending else or_(column.is_not(None), ties)
    ties = and_(column == value, further)
    if descending:
        return or_(column < value, column.is_(None), ties)
    return or_(column > value, ties)


def _is_uuid(ident: str) -> bool:
    try:
        return str(UUID(ident)) == ident.lower()
    except ValueError:
        return False
