"""``jeroboam operation``: what was asked of clusters, and how it went."""

import itertools
from datetime import UTC, datetime
from typing import Annotated

import typer

from jeroboam.cli.client.accepted import WaitOption, follow
from jeroboam.cli.client.arguments import given, words
from jeroboam.cli.client.commands import Run, command, group
from jeroboam.cli.client.operation_page import show_operation
from jeroboam.cli.client.questions import YesOption, confirm
from jeroboam.cli.client.text import earlier
from jeroboam.cli.client.watch import INTERVAL_SECONDS, PATIENCE_SECONDS, Pace, watch

app = group("See what was asked of clusters and how it goes; cancel, retry or resume it.")

KINDS = [
    *("create", "update", "delete", "force_delete", "resize", "upgrade", "rebuild"),
    *("soft_reboot", "hard_reboot", "create_node_group", "update_node_group"),
    *("delete_node_group", "check_health", "rotate_ca", "rotate_credential"),
]
STATES = [
    *("pending", "running", "compensating", "succeeded", "failed", "cancelled", "rejected"),
]
LIST_COLUMNS = ("uuid", "kind", "state", "cluster_name", "created_at", "current_step")

OperationArgument = Annotated[str, typer.Argument(metavar="OPERATION", help="Its uuid.")]
Reason = Annotated[str | None, typer.Option(help="Why, for the record.")]


@app.command("list")
@command
def list_operations(
    run: Run,
    *,
    cluster: Annotated[str | None, typer.Option(help="Only those of a cluster.")] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="Only this kind; may be repeated.", autocompletion=lambda: KINDS),
    ] = None,
    state: Annotated[
        list[str] | None,
        typer.Option(help="Only in this state; may be repeated.", autocompletion=lambda: STATES),
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Only those begun since: 30m, 12h, 7d, or a date.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many.")] = None,
) -> None:
    """List operations, the newest first."""
    query = {
        "limit": limit,
        "kind": ",".join(words(kind)) or None,
        "state": ",".join(words(state)) or None,
        "since": earlier(since, datetime.now(UTC)).isoformat() if since else None,
    }
    path = ("clusters", cluster, "operations") if cluster else ("operations",)
    rows = itertools.islice(run.api.pages(*path, query=query), limit)
    run.screen.rows(list(rows), LIST_COLUMNS)


@app.command("show")
@command
def show(run: Run, operation: OperationArgument) -> None:
    """Show an operation with its steps."""
    answer = run.api.send("GET", "operations", operation)
    show_operation(run.screen, answer.body, answer.at)


@app.command("watch")
@command
def watch_operation(
    run: Run,
    operation: OperationArgument,
    *,
    interval: Annotated[
        float, typer.Option(min=0.1, help="Seconds between two looks.")
    ] = INTERVAL_SECONDS,
    patience: Annotated[
        float, typer.Option(min=0, help="Seconds that the API may be away.")
    ] = PATIENCE_SECONDS,
) -> None:
    """Look on until an operation has ended.

    Ends with 0 when it succeeded and with 2 when it did not. Ctrl-C ends the looking on and leaves
    the operation alone.
    """
    pace = Pace(interval, patience)
    raise typer.Exit(watch(run.api, operation, run.screen.console, pace))


@app.command("cancel")
@command
def cancel(
    run: Run,
    operation: OperationArgument,
    *,
    now: Annotated[
        bool, typer.Option("--now", help="Do not wait for nodes that are rebuilt or rebooted.")
    ] = False,
    yes: YesOption = False,
    reason: Reason = None,
) -> None:
    """Cancel an operation, after saying what that does.

    A rebuild or reboot ends when the nodes at work are done; if they never are, say --now, also
    after a cancellation without it.
    """
    body = run.api.get("operations", operation)
    effect = body["cancel"]
    if effect["possible"] and not yes:
        what = f"{body['kind'].replace('_', ' ')} of {body['cluster_name']}"
        confirm(f"{effect['message_now' if now else 'message']} Cancel {what}?")
    # The service refuses in its own words what is not possible by now.
    wanted = given(reason=reason, now=now or None)
    done = run.api.send("POST", "operations", operation, "cancel", body=wanted)
    run.screen.say(done.body["message"])


@app.command("retry")
@command
def retry(run: Run, operation: OperationArgument, *, wait: WaitOption = False) -> None:
    """Take a failed or cancelled operation up again at the step that failed."""
    follow(run, run.api.send("POST", "operations", operation, "retry"), wait=wait)


@app.command("resume")
@command
def resume(
    run: Run,
    operation: OperationArgument,
    *,
    approve: Annotated[
        bool, typer.Option("--approve/--reject", help="What to answer for the hook.")
    ] = True,
    message: Annotated[str | None, typer.Option(help="Why, for the record.")] = None,
    wait: WaitOption = False,
) -> None:
    """Let an operation go on that waits for a hook's answer, or reject it."""
    sent = {"approve": approve, **given(message=message)}
    follow(run, run.api.send("POST", "operations", operation, "resume", body=sent), wait=wait)
