"""``jeroboam policy``: who may do what, by the policy file on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jeroboam.cli.client.commands import ColumnOption, FormatOption, group
from jeroboam.cli.client.output import Format, Screen
from jeroboam.cli.client.problems import UsageError
from jeroboam.cli.processes import explained

if TYPE_CHECKING:
    from jeroboam.cli.policy_book import PolicyBook
    from jeroboam.models import Identity

app = group("See who may do what; reads the policy file of this machine, and asks no service.")

NOT_PERMITTED = 3
LIST_COLUMNS = ("rule", "in_force", "changed", "request")
FIELDS = ("rule", "in_force", "changed", "default", "request", "description")
VERDICT_COLUMNS = ("rule", "permitted", "in_force", "request")

FileOption = Annotated[
    Path | None,
    typer.Option("--policy-file", help="The file; by default that of JEROBOAM_POLICY_FILE."),
]


@app.command("list")
def list_rules(
    policy_file: FileOption = None,
    *,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only those that the file changes.")
    ] = False,
    output: FormatOption = Format.TABLE,
    columns: ColumnOption = None,
) -> None:
    """List all rules: what is in force, the default, and the request that each is for."""
    screen = Screen(output, columns or ())
    with _opened(policy_file) as book:
        rows = [row for row in book.rows() if row["changed"] or not changed]
        # Programs get the whole of each.
        screen.rows(rows, LIST_COLUMNS if output is Format.TABLE else FIELDS)


@app.command("sample")
def print_sample() -> None:
    """Print a policy file for oslo.policy, with all rules as comments."""
    with explained():
        from jeroboam.api.http.authorization import Authorizer  # noqa: PLC0415 - likewise
        from jeroboam.cli.policy_book import PolicyBook  # noqa: PLC0415 - loads the drivers

        for line in PolicyBook(Authorizer()).sample():
            typer.echo(line)


@app.command("check")
def check_rules(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    rules: Annotated[
        list[str] | None, typer.Argument(metavar="RULE", help="Names of rules.")
    ] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="Check all rules.")] = False,
    roles: Annotated[
        str | None,
        typer.Option(help="The caller's roles, as member,reader; implied ones are added."),
    ] = None,
    user: Annotated[str, typer.Option(help="The caller's uuid.")] = "user",
    project: Annotated[str, typer.Option(help="Uuid of the caller's project.")] = "project",
    target_user: Annotated[
        str | None, typer.Option(help="Who made what is touched; by default the caller.")
    ] = None,
    target_project: Annotated[
        str | None, typer.Option(help="Whose it is; by default the caller's project.")
    ] = None,
    cloud: Annotated[
        str | None,
        typer.Option("--os-cloud", help="Log in by this entry of clouds.yaml for the caller."),
    ] = None,
    policy_file: FileOption = None,
    output: FormatOption = Format.TABLE,
    columns: ColumnOption = None,
) -> None:
    """Say what a caller may do; exit code 3 if one of the named rules does not permit it.

    The caller is made up of --roles, --user and --project, or is who logs in by --os-cloud.
    """
    if bool(rules) == every:
        raise UsageError("Name rules to check, or give --all.")
    if (roles is None) == ((cloud or context.obj) is None):
        raise UsageError("Say who asks: either --roles, or --os-cloud.")
    screen = Screen(output, columns or ())
    with _opened(policy_file) as book:
        from jeroboam.cli.policy_book import Target  # noqa: PLC0415 - see below

        caller = (
            _made_up(roles, user, project)
            if roles is not None
            else _logged_in(cloud or context.obj)
        )
        target = Target(target_project or caller.project_id, target_user or caller.user_id)
        verdicts = list(book.verdicts(rules or (), caller, target))
    screen.rows(verdicts, VERDICT_COLUMNS)
    if rules and not all(one["permitted"] for one in verdicts):
        raise typer.Exit(NOT_PERMITTED)


def _made_up(roles: str, user: str, project: str) -> "Identity":
    from jeroboam.cli.policy_book import with_implied  # noqa: PLC0415 - see below
    from jeroboam.models import Identity  # noqa: PLC0415 - see below

    return Identity(user_id=user, project_id=project, roles=with_implied(roles.split(",")))


def _logged_in(cloud: str) -> "Identity":
    from jeroboam.cli.client.connection import log_in  # noqa: PLC0415 - see below
    from jeroboam.models import Identity  # noqa: PLC0415 - see below

    found = log_in(cloud)
    if not found.project_id:
        raise UsageError(f"The log-in of cloud '{cloud}' is for no project; name one there.")
    return Identity(
        user_id=found.user_id or "",
        project_id=found.project_id,
        user_name=found.username or "",
        project_name=found.project_name or "",
        roles=tuple(found.role_names or ()),
        user_domain_id=found.user_domain_id or "",
        user_domain_name=found.user_domain_name or "",
        project_domain_id=found.project_domain_id or "",
        project_domain_name=found.project_domain_name or "",
    )


@contextmanager
def _opened(file: Path | None) -> Iterator["PolicyBook"]:
    """Read the rules; what the file says in vain goes to standard error."""
    with explained():
        from jeroboam.cli.policy_book import PolicyBook  # noqa: PLC0415 - loads the drivers

        book = PolicyBook.open(file)
        for name, meant in book.unknown.items():
            hint = f"; did you mean '{meant}'?" if meant else "."
            typer.echo(f"jeroboam: The file has a rule '{name}' that nothing asks{hint}", err=True)
        yield book
