"""Cluster templates."""

from collections.abc import Collection, Mapping

from sqlalchemy import (
    ColumnElement,
    Text,
    cast,
    delete,
    exists,
    insert,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.exc import IntegrityError

from jeroboam.errors import InvalidRequestError, NotFoundError
from jeroboam.models import ClusterTemplate, OperationKind, utc_now
from jeroboam.store.acceptance import ACTIVE
from jeroboam.store.database import Database
from jeroboam.store.query import (
    Page,
    Scope,
    execute,
    fetch_all,
    fetch_one,
    fetch_page,
    identified,
    model_of,
    scalar,
    values_of,
)
from jeroboam.store.tables import ClusterRow, OperationRow, TemplateRow

_NOUN = "Cluster template"


class TemplateRepository:
    """Stores what clusters are made from.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, template: ClusterTemplate) -> ClusterTemplate:
        """Store a new template and return it."""
        await self._database.write(execute, insert(TemplateRow).values(**values_of(template)))
        return template

    async def get(self, ident: str, scope: Scope) -> ClusterTemplate:
        """Return the template with this uuid or name: the caller's own, or a public one.

        Raises:
            NotFoundError: There is none, or it is another project's.
            AmbiguousNameError: Several have the name.
        """
        statement = select(TemplateRow).where(identified(TemplateRow, ident), _visible(scope))
        row = await self._database.read(fetch_one, statement, _NOUN, ident)
        return model_of(ClusterTemplate, TemplateRow, row)

    async def list(self, scope: Scope, page: Page) -> list[ClusterTemplate]:
        """Return the caller's own and the public templates; only administrators see hidden ones."""
        visible = _visible(scope)
        if scope.project_id is not None:
            visible &= TemplateRow.hidden.is_(False)
        rows = await self._database.read(fetch_page, TemplateRow, visible, page, _NOUN)
        return [model_of(ClusterTemplate, TemplateRow, row) for row in rows]

    async def labels(self, uuids: Collection[str]) -> Mapping[str, Mapping[str, str]]:
        """Return the labels of several templates at once, by uuid."""
        statement = select(TemplateRow.uuid, TemplateRow.labels).where(TemplateRow.uuid.in_(uuids))
        rows = await self._database.read(fetch_all, statement)
        return {row["uuid"]: row["labels"] for row in rows}

    async def update(self, template: ClusterTemplate) -> ClusterTemplate:
        """Replace the template of the same uuid and return it with its time of change."""
        changed = template.model_copy(update={"updated_at": utc_now()})
        statement = (
            update(TemplateRow)
            .where(TemplateRow.uuid == template.uuid)
            .values(**values_of(changed))
        )
        if await self._database.write(execute, statement) == 0:
            raise _not_found(template.uuid)
        return changed

    async def delete(self, uuid: str) -> None:
        """Remove a template.

        Raises:
            InvalidRequestError: A cluster refers to it.
            NotFoundError: There is none.
        """
        referenced = InvalidRequestError(
            f"Cluster template {uuid} is referenced by one or multiple clusters. "
            "Delete these first."
        )
        statement = delete(TemplateRow).where(TemplateRow.uuid == uuid, ~_awaited(uuid))
        try:
            deleted = await self._database.write(execute, statement)
        except IntegrityError as error:
            raise referenced from error
        if deleted == 0:
            raise referenced if await self.in_use(uuid) else _not_found(uuid)

    async def in_use(self, uuid: str) -> bool:
        """Whether a cluster refers to the template, or is moving to it."""
        of_cluster = exists().where(ClusterRow.cluster_template_id == uuid)
        statement = select(or_(of_cluster, _awaited(uuid)))
        return bool(await self._database.read(scalar, statement))


def _awaited(uuid: str) -> ColumnElement[bool]:
    """Match where an operation at work moves a cluster to the template."""
    return exists().where(
        OperationRow.kind == OperationKind.UPGRADE,
        OperationRow.state.in_(ACTIVE),
        cast(OperationRow.parameters, Text).contains(uuid),
    )


def _visible(scope: Scope) -> ColumnElement[bool]:
    if scope.project_id is None:
        return true()
    return or_(TemplateRow.project_id == scope.project_id, TemplateRow.public.is_(True))


def _not_found(uuid: str) -> NotFoundError:
    return NotFoundError(f"{_NOUN} {uuid} could not be found.")
