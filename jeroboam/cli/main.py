"""The ``jeroboam`` command."""

import asyncio
import sys

import typer
from pydantic import ValidationError
from temporalio.service import RPCError

from jeroboam import logging, settings
from jeroboam.errors import ConfigurationError, JeroboamError

app = typer.Typer(
    name="jeroboam",
    help="Clusters as a service for OpenStack.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
database = typer.Typer(help="Look after the database.", no_args_is_help=True)
app.add_typer(database, name="db")


@app.command()
def serve() -> None:
    """Serve the HTTP API until SIGTERM or SIGINT."""
    # Each command loads its own half of the product: the other's start-up time is saved.
    from jeroboam.api.http import server  # noqa: PLC0415

    asyncio.run(server.serve(_prepared()))


@app.command()
def worker() -> None:
    """Run operations until SIGTERM or SIGINT."""
    from jeroboam import worker as process  # noqa: PLC0415

    asyncio.run(process.run(_prepared()))


@database.command()
def upgrade() -> None:
    """Bring the database's schema up to date; safe to run anywhere, any number of times."""
    from jeroboam.store import migrate  # noqa: PLC0415

    asyncio.run(migrate.upgrade(_prepared().resolved_database_url))
    typer.echo("The database is up to date.")


def _prepared() -> settings.Settings:
    loaded = settings.load()
    try:
        loaded.state_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"The state directory {loaded.state_directory} cannot be made ({error.strerror}). "
            "Correct JEROBOAM_STATE_DIRECTORY."
        ) from error
    logging.configure(loaded)
    return loaded


def main() -> None:
    """Run the command; what a user can mend is one line, not a traceback."""
    try:
        app()
    except JeroboamError as error:
        _fail(error.message)
    except ValidationError as error:
        first = error.errors()[0]
        name = "JEROBOAM_" + "_".join(str(part) for part in first["loc"]).upper()
        _fail(f"The setting {name} is not valid: {first['msg']}.")
    except RPCError as error:
        _fail(f"Temporal refused: {error.message}")


def _fail(message: str) -> None:
    typer.echo(f"jeroboam: {message}", err=True)
    sys.exit(1)
