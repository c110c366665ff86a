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
)
STEP_COLUMNS = ("step", "state", "attempts", "duration", "detail")


def show_operation(screen: Screen, body: Mapping[str, Any], at: datetime) -> None:
    """Print an operation; for people without what is empty, and with its steps below."""
    if not screen.for_people:
        screen.record(body)
        return
    screen.record(for_people(body))
    operation = Operation.of(body, at)
    rows = [_row(step, operation) for step in operation.steps]
    screen.draw(table_of(rows, STEP_COLUMNS, ascii_only=not screen.console.is_terminal))


def for_people(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what people want to know of an operation beside its steps."""
    fields = {name: body.get(name) for name in FIELDS}
    fields["parameters"] = _without_empty(fields["parameters"] or {})
    links = {link["rel"]: link["href"] for link in body["links"]}
    return {**_without_empty(fields), **_without_empty({"temporal": links.get("temporal")})}


def _without_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}


def _row(step: Step, operation: Operation) -> dict[str, Any]:
    return {
        "step": step.name,
        "state": step.state,
        "attempts": step.attempts or None,
        "duration": duration(step.seconds(operation.at)),
        "detail": step.detail,
    }
