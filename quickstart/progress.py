"""Brings the steps of a running operation onto the list."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from quickstart.board import Board, State, Step
from quickstart.tenant import Tenant

STATES = {
    "PENDING": State.WAITING,
    "RUNNING": State.WORKING,
    "SUCCEEDED": State.DONE,
    "FAILED": State.FAILED,
    "WARNED": State.WARNED,
    "CANCELLED": State.WARNED,
}


class OperationProgress:
    """What Jeroboam's API knows of operations, and Heat of their stacks.

    Args:
        board: Where the steps go.
        tenant: Asks both.
    """

    def __init__(self, board: Board, tenant: Tenant) -> None:
        self._board = board
        self._tenant = tenant
        self._lines: dict[str, Step] = {}
        self._waiting: str | None = None

    async def show(self, cluster: Any) -> None:
        """Bring the latest operation's steps up to date.

        Raises:
            QuickstartError: The API does not say.
        """
        operation = await self._tenant.latest_operation(cluster.id)
        if operation is None:
            return
        remarks = await self._remarks(operation, cluster)
        for record in operation["steps"]:
            line = self._lines.get(record["name"])
            if line is None:
                line = self._lines[record["name"]] = self._board.add(record["name"], level=1)
            line.started = _time(record["started_at"]) or line.started
            remark = record["error"] or remarks.get(record["name"])
            self._board.update(line, STATES[record["state"]], remark)
            line.ended = _time(record["ended_at"]) or line.ended

    async def _remarks(self, operation: Mapping[str, Any], cluster: Any) -> dict[str, str]:
        """Return what there is to say about the steps; what is no longer true is left out."""
        current = operation["current_step"]
        news = {step["name"]: step["message"] for step in operation["steps"] if step["message"]}
        remarks = {name: message for name, message in news.items() if name == current}
        # Only the step that waits for Heat has a remark of its own while all goes well.
        if remarks:
            self._waiting = current
        if self._waiting and cluster.stack_id:
            complete, known = await self._tenant.resources(cluster.stack_id)
            if known:
                remarks[self._waiting] = f"Heat: {complete} of {known} resources"
        return remarks


def _time(text: str | None) -> float | None:
    return datetime.fromisoformat(text).timestamp() if text else None
