"""``jeroboam cluster``: what Magnum's clients cannot ask of a cluster, or not plan or watch."""

from typing import Annotated, Any

import typer

from jeroboam.cli.client import import_commands, look_commands, window_commands
from jeroboam.cli.client.arguments import batch_size_of, given
from jeroboam.cli.client.commands import group
from jeroboam.cli.client.verbs import Request, verb

app = group("Work on clusters.")
plans = group("Show what a command of the same name would do, and do nothing.")
app.add_typer(plans, name="plan")
app.add_typer(window_commands.app, name="maintenance-window")
import_commands.register(app)
look_commands.register(app)

ClusterArgument = Annotated[str, typer.Argument(metavar="CLUSTER", help="Its name or uuid.")]
NodesOption = Annotated[
    list[str] | None, typer.Option("--node", help="Name of a node; may be repeated.")
]
GroupsOption = Annotated[
    list[str] | None,
    typer.Option("--node-group", help="Name or uuid of a node group; may be repeated."),
]
GroupOption = Annotated[str | None, typer.Option(help="Name or uuid of the node group.")]
BatchOption = Annotated[
    str, typer.Option(help="How many nodes at a time; 'all' for all of a group at once.")
]
RollbackOption = Annotated[
    bool | None, typer.Option(help="Whether a failure is undone; by default it is.")
]


@verb("rebuild", app, plans)
def rebuild(
    cluster: ClusterArgument,
    *,
    node: NodesOption = None,
    node_group: GroupsOption = None,
    batch_size: BatchOption = "1",
) -> Request:
    """Replace nodes by new ones of the same name and address.

    Without --node and --node-group all nodes, the control plane first and one at a time.
    """
    chosen = given(nodes=node, node_groups=node_group)
    size = batch_size_of(batch_size)
    return _action(cluster, "rebuild", {**chosen, "batch_size": size})


@verb("reboot", app, plans)
def reboot(
    cluster: ClusterArgument,
    *,
    hard: Annotated[
        bool, typer.Option("--hard/--soft", help="Cut the power, or ask the nodes to reboot.")
    ] = False,
    node: NodesOption = None,
    node_group: GroupsOption = None,
    batch_size: BatchOption = "1",
) -> Request:
    """Reboot nodes; without --node and --node-group all, the control plane one at a time."""
    chosen = given(nodes=node, node_groups=node_group)
    size = batch_size_of(batch_size)
    how = "hard" if hard else "soft"
    return _action(cluster, "reboot", {**chosen, "batch_size": size, "type": how})


@verb("resize", app, plans)
def resize(
    cluster: ClusterArgument,
    node_count: Annotated[int, typer.Argument(min=0, help="How many nodes there shall be.")],
    *,
    node_group: GroupOption = None,
    remove: Annotated[
        list[str] | None,
        typer.Option(help="A node that must be among those removed; may be repeated."),
    ] = None,
    rollback: RollbackOption = None,
) -> Request:
    """Change how many nodes a node group has; by default the first group of workers."""
    body = given(node_count=node_count, nodegroup=node_group, nodes_to_remove=remove)
    return _action(cluster, "resize", body, {"rollback": rollback})


@verb("upgrade", app, plans)
def upgrade(
    cluster: ClusterArgument,
    template: Annotated[str, typer.Argument(help="The cluster template to move to.")],
    *,
    node_group: GroupOption = None,
    batch_size: Annotated[
        int | None, typer.Option(min=1, help="How many nodes at a time; by default one.")
    ] = None,
    rollback: RollbackOption = None,
) -> Request:
    """Move a cluster, or one node group, to another cluster template."""
    body = given(cluster_template=template, nodegroup=node_group, max_batch_size=batch_size)
    return _action(cluster, "upgrade", body, {"rollback": rollback})


@verb("check-health", app, plans)
def check_health(cluster: ClusterArgument) -> Request:
    """Look at a cluster's health now."""
    return _action(cluster, "check_health", {})


@verb("rotate-ca", app, plans)
def rotate_ca(cluster: ClusterArgument) -> Request:
    """Replace a cluster's certificate authorities, in three rounds through its nodes.

    Get a new kubeconfig when it has ended: certificates of the former authorities end with it.
    """
    return Request("PATCH", ("certificates", cluster))


@verb("rotate-credential", app, plans)
def rotate_credential(cluster: ClusterArgument) -> Request:
    """Have a cluster act for you from now on, in place of whoever it acted for.

    If the former owner was disabled or has left the project, the cluster becomes yours.
    """
    return Request("PATCH", ("credentials", cluster))


@verb("delete", app, plans, asks=True)
def delete(
    cluster: ClusterArgument,
    *,
    force: Annotated[
        bool, typer.Option("--force", help="Also when the cloud does not let go of all of it.")
    ] = False,
) -> Request:
    """Remove a cluster and all that belongs to it, whatever is being done to it now.

    With --force what cannot be removed is left behind and named in the operation's record.
    """
    what = "by force: what the cloud keeps is left behind" if force else "with all it has"
    return Request(
        "DELETE",
        ("clusters", cluster),
        query={"force": force or None},
        question=f"Remove cluster {cluster} {what}?",
    )


def _action(
    cluster: str, action: str, body: dict[str, Any], query: dict[str, Any] | None = None
) -> Request:
    return Request("POST", ("clusters", cluster, "actions", action), body, query or {})
