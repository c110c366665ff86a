"""``jeroboam quota``: what projects may have; Magnum's clients know the limit of clusters alone."""

from typing import Annotated

import typer

from jeroboam.cli.client.commands import Run, command, group
from jeroboam.cli.client.problems import RequestRefusedError

app = group("See and set what projects may have.")

COLUMNS = ("project_id", "resource", "hard_limit", "updated_at")
NOT_FOUND = 404

ProjectArgument = Annotated[str, typer.Argument(metavar="PROJECT", help="The project's uuid.")]
ResourceArgument = Annotated[
    str, typer.Argument(metavar="RESOURCE", help="What is limited; 'quota show' names them all.")
]
RESOURCES = ("Cluster", "Node", "Core", "Operation")


@app.command("list")
@command
def list_quotas(
    run: Run,
    *,
    everybody: Annotated[
        bool, typer.Option("--all-projects", help="Of all projects, for administrators.")
    ] = False,
) -> None:
    """List the quotas that were set."""
    query = {"all_tenants": True} if everybody else None
    run.screen.rows(list(run.api.pages("quotas", query=query)), COLUMNS)


@app.command("show")
@command
def show_quotas(run: Run, project: ProjectArgument) -> None:
    """Show all limits of a project: what was set, or what holds by the settings."""
    rows = [run.api.get("quotas", project, resource) for resource in RESOURCES]
    run.screen.rows(rows, COLUMNS)


@app.command("set")
@command
def set_quota(
    run: Run,
    project: ProjectArgument,
    resource: ResourceArgument,
    limit: Annotated[int, typer.Argument(min=0, metavar="LIMIT", help="The most there may be.")],
) -> None:
    """Set a limit of a project; what it has beyond that stays."""
    try:
        answer = run.api.send("PATCH", "quotas", project, resource, body={"hard_limit": limit})
    except RequestRefusedError as error:
        if error.status != NOT_FOUND:
            raise
        wanted = {"project_id": project, "resource": resource, "hard_limit": limit}
        answer = run.api.send("POST", "quotas", body=wanted)
    run.screen.record(answer.body)


@app.command("unset")
@command
def unset_quota(run: Run, project: ProjectArgument, resource: ResourceArgument) -> None:
    """Remove a limit that was set for a project: that of the settings holds again."""
    run.api.send("DELETE", "quotas", project, resource)
    run.screen.say(f"The limit of the settings holds for {resource} of project {project}.")
