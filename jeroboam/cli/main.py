"""The ``jeroboam`` command."""

import sys
from typing import Annotated

import typer

from jeroboam.cli import authoring, policy_commands, processes
from jeroboam.cli.client import (
    cluster_commands,
    driver_commands,
    hook_commands,
    operation_commands,
    quota_commands,
    schedule_commands,
)
from jeroboam.cli.doctor.command import doctor
from jeroboam.errors import JeroboamError

app = typer.Typer(
    name="jeroboam",
    help="Clusters as a service for OpenStack.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(cluster_commands.app, name="cluster")
app.add_typer(operation_commands.app, name="operation")
app.add_typer(schedule_commands.app, name="schedule")
app.add_typer(hook_commands.app, name="hook")
app.add_typer(quota_commands.app, name="quota")
authoring.register(driver_commands.app)
app.add_typer(driver_commands.app, name="driver")
app.add_typer(policy_commands.app, name="policy")
processes.register(app)
app.command()(doctor)


@app.callback()
def _root(
    context: typer.Context,
    cloud: Annotated[
        str | None,
        typer.Option("--os-cloud", help="An entry of clouds.yaml; see the commands."),
    ] = None,
) -> None:
    context.obj = cloud


def main() -> None:
    """Run the command; what a user can mend is one line, not a traceback."""
    try:
        app()
    except JeroboamError as error:
        typer.echo(f"jeroboam: {error.message}", err=True)
        sys.exit(1)
