"""Brings the steps of a running operation onto the list."""

from types import TracebackType
from typing import Any, Self

from jeroboam.models import Operation, StepState
from jeroboam.settings import Settings
from jeroboam.store import Page, Scope, Store
from quickstart.board import Board, State, Step
from quickstart.layout import Layout
from quickstart.tenant import Tenant

STATES = {
    StepState.PENDING: State.WAITING,
    StepState.RUNNING: State.WORKING,
    StepState.SUCCEEDED: State.DONE,
    StepState.FAILED: State.FAILED,
    StepState.WARNED: State.WARNED,
    StepState.CANCELLED: State.WARNED,
}


class OperationProgress:
    """What Jeroboam's read model knows of operations, and Heat of their stacks.

    Args:
        layout: Where the read model is.
        board: Where the steps go.
        tenant: Asks Heat.
    """

    def __init__(self, layout: Layout, board: Board, tenant: Tenant) -> None:
        self._url = Settings(state_directory=layout.home).resolved_database_url
        self._board = board
        self._tenant = tenant
        self._lines: dict[str, Step] = {}
        self._waiting: str | None = None

    async def __aenter__(self) -> Self:
        """Open the read model."""
        self._store = await Store.open(self._url)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        await self._store.close()

    async def last(self, cluster: Any) -> Operation | None:
        """Return the latest operation on a cluster."""
        page = Page(limit=1, sort_dir="desc")
        found = await self._store.operations.list(Scope(None), page, cluster.uuid)
        return found[0] if found else None

    async def show(self, cluster: Any) -> None:
        """Bring the latest operation's steps up to date."""
        operation = await self.last(cluster)
        if operation is None:
            return
        remarks = await self._remarks(operation, cluster)
        for record in operation.steps:
            line = self._lines.get(record.name)
            if line is None:
                line = self._lines[record.name] = self._board.add(record.name, level=1)
            if record.started_at:
                line.started = record.started_at.timestamp()
            remark = record.error or remarks.get(record.name)
            self._board.update(line, STATES[record.state], remark)
            if record.ended_at:
                line.ended = record.ended_at.timestamp()

    async def _remarks(self, operation: Operation, cluster: Any) -> dict[str, str]:
        """Return what there is to say about the steps; what is no longer true is left out."""
        current = operation.current_step
        notes = await self._store.operations.notes(operation.uuid)
        remarks = {note.step: note.message for note in notes if note.step == current}
        # Only the step that waits for Heat has a remark of its own while all goes well.
        if remarks:
            self._waiting = current
        if self._waiting and cluster.stack_id:
            complete, known = await self._tenant.resources(cluster.stack_id)
            if known:
                remarks[self._waiting] = f"Heat: {complete} of {known} resources"
        return remarks
