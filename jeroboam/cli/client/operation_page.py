"""One operation on the screen."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from jeroboam.cli.client.output import Screen, table_of
from jeroboam.cli.client.progress import Operation, Step
from jeroboam.cli.client.text import duration

FIELDS = (
    "uuid",
    "kind",
    "state",
    "reason",
    "cluster_name",
    "cluster_id",
    "project_id",
    "user_id",
    "request_id",
    "schedule_id",
    "parameters",
    "changes",
    "rollback",
    "created_at",
    "started_at",
    "ended_at",
    "deadline_at",
    "links",
)
STEP_COLUMNS = ("step", "state", "attempts", "duration", "detail")


def show_operation(screen: Screen, body: Mapping[str, Any], at: datetime) -> None:
    """Print an operation's fields and below them, for people, its steps."""
    screen.record(body, FIELDS)
    if screen.for_people:
        operation = Operation.of(body, at)
        rows = [_row(step, operation) for step in operation.steps]
        screen.draw(table_of(rows, STEP_COLUMNS, ascii_only=not screen.console.is_terminal))


def _row(step: Step, operation: Operation) -> dict[str, Any]:
    return {
        "step": step.name,
        "state": step.state,
        "attempts": step.attempts or None,
        "duration": duration(step.seconds(operation.at)),
        "detail": step.detail,
    }
