"""``jeroboam cluster nodes`` and the like: what Magnum's clients cannot show of a cluster."""

from typing import Annotated

import typer

from jeroboam.cli.client.arguments import given
from jeroboam.cli.client.commands import Run, command

NODE_COLUMNS = (
    "name",
    "nodegroup",
    "role",
    "status",
    "health",
    "server_id",
    "addresses",
    "version",
)
AUTHORITY_COLUMNS = ("kind", "state", "not_before", "not_after", "serial")

ClusterArgument = Annotated[str, typer.Argument(metavar="CLUSTER", help="Its name or uuid.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("nodes")(list_nodes)
    app.command("usage")(show_usage)
    app.command("driver")(show_driver)
    app.command("certificates")(list_authorities)


@command
def list_nodes(
    run: Run,
    cluster: ClusterArgument,
    *,
    node_group: Annotated[
        str | None, typer.Option(help="Name or uuid of a node group; by default all.")
    ] = None,
    role: Annotated[str | None, typer.Option(help="Only nodes of this role.")] = None,
) -> None:
    """List a cluster's nodes, with the server, the addresses and the version of each."""
    group = ("nodegroups", node_group) if node_group else ()
    rows = run.api.pages("clusters", cluster, *group, "nodes", query=given(role=role))
    run.screen.rows(list(rows), NODE_COLUMNS)


@command
def show_usage(run: Run, cluster: ClusterArgument) -> None:
    """Show how much CPU and memory a cluster uses, as it was found last."""
    run.screen.record(run.api.get("clusters", cluster, "usage"))


@command
def show_driver(run: Run, cluster: ClusterArgument) -> None:
    """Show by which driver a cluster was built, and whether there is a newer version of it."""
    run.screen.record(run.api.get("clusters", cluster, "driver"))


@command
def list_authorities(run: Run, cluster: ClusterArgument) -> None:
    """List a cluster's certificate authorities, with the times when they end."""
    found = run.api.get("clusters", cluster, "certificates")
    run.screen.rows(found["certificates"], AUTHORITY_COLUMNS)
