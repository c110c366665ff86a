"""``jeroboam driver``: what builds clusters."""

from typing import Annotated, Any

import typer

from jeroboam.cli.client.commands import Run, command, group

app = group("See which drivers there are, and write new ones.")

LIST_COLUMNS = ("name", "version", "state", "provides", "source", "reason")

NameArgument = Annotated[str, typer.Argument(metavar="DRIVER", help="Its name.")]


@app.command("list")
@command
def list_drivers(run: Run) -> None:
    """List the drivers; for administrators with their sources, and with those that are broken."""
    run.screen.rows([_row(one) for one in run.api.pages("drivers")], LIST_COLUMNS)


@app.command("show")
@command
def show(run: Run, driver: NameArgument) -> None:
    """Show a driver: version, source, what it builds and can do, and why it may not be used."""
    run.screen.record(run.api.get("drivers", driver))


def _row(driver: dict[str, Any]) -> dict[str, Any]:
    kinds = [f"{one['coe']} on {one['os']} ({one['server_type']})" for one in driver["provides"]]
    return {**driver, "provides": "; ".join(kinds)}
