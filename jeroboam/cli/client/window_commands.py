"""``jeroboam cluster maintenance-window``: when scheduled operations may start."""

from typing import Annotated

import typer

from jeroboam.cli.client.arguments import given
from jeroboam.cli.client.commands import Run, command, group
from jeroboam.cli.client.problems import UsageError
from jeroboam.cli.client.text import minutes

app = group("Say when scheduled operations may start on a cluster.")

ClusterArgument = Annotated[str, typer.Argument(metavar="CLUSTER", help="Its name or uuid.")]
PATH = "maintenance_window"


@app.command("set")
@command
def set_window(
    run: Run,
    cluster: ClusterArgument,
    *,
    duration: Annotated[str, typer.Option(help="How long it stays open: 90m, 4h.")],
    start: Annotated[str | None, typer.Option(help="When it opens: 22:30.")] = None,
    day: Annotated[
        list[str] | None,
        typer.Option(help="mon to sun; may be repeated. By default every day."),
    ] = None,
    cron: Annotated[
        str | None, typer.Option(help="Instead of --start and --day: '30 22 * * sat'.")
    ] = None,
    time_zone: Annotated[
        str | None, typer.Option(help="Whose clock counts, for example Europe/Berlin; else UTC.")
    ] = None,
) -> None:
    """Give a cluster a maintenance window; nothing scheduled starts outside it."""
    if bool(start) == bool(cron):
        raise UsageError("Say when it opens: either --start 22:30, or --cron '30 22 * * sat'.")
    body = given(
        start=start,
        days=day,
        cron=cron,
        duration_minutes=minutes(duration),
        time_zone=time_zone,
    )
    run.screen.record(run.api.send("PUT", "clusters", cluster, PATH, body=body).body)


@app.command("show")
@command
def show(run: Run, cluster: ClusterArgument) -> None:
    """Show a cluster's maintenance window, whether it is open, and when it opens next."""
    run.screen.record(run.api.get("clusters", cluster, PATH))


@app.command("clear")
@command
def clear(run: Run, cluster: ClusterArgument) -> None:
    """Take a cluster's maintenance window away: what is scheduled starts at any time."""
    run.api.send("DELETE", "clusters", cluster, PATH)
    run.screen.say(f"Cluster {cluster} has no maintenance window.")
