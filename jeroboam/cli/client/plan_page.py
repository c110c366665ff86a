"""A plan on the screen: what would be different, and the steps that would make it so."""

from collections.abc import Mapping
from typing import Any

from jeroboam.cli.client.output import Screen, table_of
from jeroboam.cli.client.text import duration

STEP_COLUMNS = ("step", "action", "time limit", "if it fails", "undone by")
HOOK_COLUMNS = ("phase", "name", "source", "time limit", "if it fails")


def show_plan(screen: Screen, body: Mapping[str, Any]) -> None:
    """Print the answer to a dry run."""
    if not screen.for_people:
        screen.record(body)
        return
    plain = not screen.console.is_terminal
    if body["changes"]:
        rows = [{"what": what, "change": change} for what, change in body["changes"].items()]
        screen.draw(table_of(rows, ("what", "change"), ascii_only=plain))
    else:
        screen.say("The cluster's record would not change.")
    plan = body["plan"]
    if plan is None:
        screen.say("Nothing would have to be done in the cloud.")
        return
    screen.draw(table_of([_step(one) for one in plan["steps"]], STEP_COLUMNS, ascii_only=plain))
    if plan["hooks"]:
        screen.draw(table_of([_hook(one) for one in plan["hooks"]], HOOK_COLUMNS, ascii_only=plain))
    failing = "is rolled back" if plan["rollback"] else "stays as it is"
    screen.say(
        f"It may take up to {duration(plan['deadline_seconds'])}; what fails {failing}. "
        "Nothing was done."
    )


def _step(step: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "step": step["name"],
        "action": step["action"].replace("_", " "),
        "time limit": duration(step["timeout_seconds"]),
        "if it fails": step["on_failure"],
        "undone by": step["undo"],
    }


def _hook(hook: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "phase": hook["phase"],
        "name": hook["name"] or "the driver's own",
        "source": hook["source"],
        "time limit": duration(hook["timeout_seconds"]),
        "if it fails": hook["on_failure"],
    }
