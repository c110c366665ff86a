"""Operations and plans on the screen."""

import io
from typing import Any

from rich.console import Console

from jeroboam.cli.client.operation_page import for_people
from jeroboam.cli.client.output import WIDE, Format, Screen
from jeroboam.cli.client.plan_page import show_plan
from tests.unit.cli.records import record

LINKS = [{"rel": "self", "href": "http://api/v1/operations/1"}]
TEMPORAL = {"rel": "temporal", "href": "http://ui/run"}

STEP = {
    "name": "Resize default-worker from 2 to 3",
    "action": "submit",
    "timeout_seconds": None,
    "on_failure": "fail",
    "undo": ["Return default-worker to 2", "Wait: Return default-worker to 2"],
}
HOOK = {
    "step": "Before resize: hook approve",
    "phase": "before",
    "source": "webhook",
    "name": "approve",
    "timeout_seconds": 7200,
    "on_failure": "warn",
}
PLAN = {
    "driver": "fake",
    "driver_version": "1.0.0",
    "deadline_seconds": 3600,
    "rollback": True,
    "steps": [STEP],
    "hooks": [],
}


def test_people_see_no_empty_fields() -> None:
    """What is empty is left out, of the input too; what is false is a fact and stays."""
    parameters = {"node_groups": [], "nodes": ["a"], "batch_size": 1}
    shown = for_people(record("RUNNING", parameters=parameters, rollback=False, links=LINKS))
    assert shown["parameters"] == {"nodes": ["a"], "batch_size": 1}
    assert shown["rollback"] is False
    assert not {"reason", "ended_at", "links", "temporal"} & shown.keys()


def test_operators_see_where_it_runs() -> None:
    """Of the links, people see the one that leads to the run in Temporal, if there is one."""
    assert for_people(record("RUNNING", links=[*LINKS, TEMPORAL]))["temporal"] == "http://ui/run"


def shown(plan: dict[str, Any] | None, **changes: str) -> str:
    """Return what is printed of the answer to a dry run."""
    stream = io.StringIO()
    screen = Screen(Format.TABLE, (), Console(file=stream, width=WIDE))
    show_plan(screen, {"dry_run": True, "plan": plan, "changes": changes})
    return stream.getvalue()


def test_a_plan() -> None:
    """A plan shows what changes, each step and what would undo it, and how long it may take."""
    text = shown(PLAN, **{"default-worker.node_count": "2 -> 3"})
    assert "2 -> 3" in text
    assert "Resize default-worker from 2 to 3" in text
    assert "Return default-worker to 2, Wait: Return default-worker to 2" in text
    assert text.endswith(
        "It may take up to 1 h 00 min; what fails is rolled back. Nothing was done.\n"
    )
    assert "phase" not in text


def test_a_plan_with_hooks() -> None:
    """Hooks are listed with their time limits; the driver's own has no name."""
    hooks = [HOOK, {**HOOK, "name": None, "source": "driver", "timeout_seconds": None}]
    text = shown({**PLAN, "hooks": hooks, "rollback": False})
    assert "approve" in text
    assert "2 h 00 min" in text
    assert "the driver's own" in text
    assert "what fails stays as it is" in text
    assert "would not change" in text


def test_nothing_to_do() -> None:
    """A request that needs no operation says so."""
    assert "Nothing would have to be done in the cloud." in shown(None, health="-> HEALTHY")
