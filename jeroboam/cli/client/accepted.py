"""After a request that starts an operation: which one it is, and looking on if that is wished."""

from typing import Annotated

import typer

from jeroboam.cli.client.api import Answer
from jeroboam.cli.client.commands import Run
from jeroboam.cli.client.watch import Pace, watch

WaitOption = Annotated[
    bool, typer.Option("--wait", "-w", help="Look on until it has ended; see 'operation watch'.")
]


OPERATION_HEADER = "Jeroboam-Operation"


def follow(run: Run, answer: Answer, *, wait: bool) -> None:
    """Say what was accepted, or look on until it has ended and exit with its exit code."""
    body = answer.body or {}
    operation = answer.headers.get(OPERATION_HEADER) or body.get("operation_id")
    if operation is None:
        # There was nothing to do, or what answers is Magnum.
        run.screen.say("Done.")
    elif wait:
        raise typer.Exit(watch(run.api, operation, run.screen.console, Pace()))
    elif run.screen.for_people:
        said = body.get("message", "Accepted.")
        run.screen.say(f"{said} Look on: jeroboam operation watch {operation}")
    else:
        run.screen.record({"operation_id": operation, **body})
