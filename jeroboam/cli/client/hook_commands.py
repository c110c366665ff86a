"""``jeroboam hook``: what runs before and after operations, for administrators."""

from typing import Annotated

import typer

from jeroboam.cli.client.arguments import (
    ChangeOption,
    given,
    pairs,
    plain_values,
    secret_from,
    words,
)
from jeroboam.cli.client.commands import Run, command, group
from jeroboam.cli.client.problems import UsageError
from jeroboam.cli.client.questions import YesOption, confirm

app = group("Declare what runs before and after operations; for administrators.")

LIST_COLUMNS = (
    *("name", "source", "origin", "phases", "operations", "scope", "scope_id"),
    *("on_failure", "enabled"),
)

NameArgument = Annotated[str, typer.Argument(metavar="HOOK", help="Its name.")]


@app.command("list")
@command
def list_hooks(run: Run) -> None:
    """List all hooks: those installed, those of the operator's file, and those declared here."""
    run.screen.rows(list(run.api.pages("hooks")), LIST_COLUMNS)


@app.command("show")
@command
def show(run: Run, hook: NameArgument) -> None:
    """Show a hook with the values in force."""
    run.screen.record(run.api.get("hooks", hook))


@app.command("create")
@command
def create(  # noqa: PLR0913 - each is an option of the command
    run: Run,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Lower-case letters, digits, - _.")],
    *,
    source: Annotated[str, typer.Option(help="webhook or python.")] = "webhook",
    url: Annotated[str | None, typer.Option(help="Of a webhook: where it is.")] = None,
    hook: Annotated[
        str | None, typer.Option(help="Of a python hook: which installed one; else NAME.")
    ] = None,
    phase: Annotated[
        list[str] | None, typer.Option(help="before, after or failure; may be repeated.")
    ] = None,
    operation: Annotated[
        list[str] | None,
        typer.Option(help="Kind of operation; may be repeated. By default all."),
    ] = None,
    scope: Annotated[
        str | None, typer.Option(help="driver, template, project or cluster; by default all.")
    ] = None,
    scope_id: Annotated[
        str | None, typer.Option(help="The driver's name, or the uuid of the others.")
    ] = None,
    after: Annotated[
        list[str] | None, typer.Option(help="A hook that runs earlier; may be repeated.")
    ] = None,
    timeout: Annotated[
        int | None, typer.Option(min=1, help="Seconds for all attempts together.")
    ] = None,
    on_failure: Annotated[
        str | None, typer.Option(help="What its failure means: fail, warn or ignore.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="For the hook, in JSON or text; may be repeated."),
    ] = None,
    secret_file: Annotated[
        str | None,
        typer.Option(help="File with what requests are signed with; - is standard input."),
    ] = None,
    enabled: Annotated[
        bool, typer.Option("--enabled/--disabled", help="Whether it runs from now on.")
    ] = True,
) -> None:
    """Declare a hook."""
    body = given(
        name=name,
        source=source.lower(),
        url=url,
        hook=hook,
        phases=words(phase),
        operations=words(operation),
        scope=scope and scope.lower(),
        scope_id=scope_id,
        runs_after=after,
        timeout_seconds=timeout,
        on_failure=on_failure and on_failure.lower(),
        secret=secret_from(secret_file),
        enabled=enabled,
    )
    options = plain_values(pairs(option, "--option"))
    body |= {"options": options} if options else {}
    run.screen.record(run.api.send("POST", "hooks", body=body).body)


@app.command("update")
@command
def update(
    run: Run,
    hook: NameArgument,
    *,
    change: ChangeOption = None,
    secret_file: Annotated[
        str | None, typer.Option(help="File with the new secret; - is standard input.")
    ] = None,
) -> None:
    """Change what is named of a hook that was declared here: --set enabled=false."""
    body = plain_values(pairs(change, "--set")) | given(secret=secret_from(secret_file))
    if not body:
        raise UsageError("Say what to change: --set FIELD=VALUE, or --secret-file.")
    run.screen.record(run.api.send("PATCH", "hooks", hook, body=body).body)


@app.command("delete")
@command
def delete(run: Run, hook: NameArgument, *, yes: YesOption = False) -> None:
    """Remove a hook that was declared here; operations at work pass over it."""
    if not yes:
        confirm(f"Remove hook {hook}?")
    run.api.send("DELETE", "hooks", hook)
    run.screen.say(f"Hook {hook} is removed.")
