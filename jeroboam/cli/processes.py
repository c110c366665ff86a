"""Commands that run the service: its API, its worker, and the care of its database."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from jeroboam.errors import ConfigurationError, JeroboamError

if TYPE_CHECKING:
    from jeroboam.settings import Settings

# Each command loads its own part of the product: the others' start-up time is saved.

database = typer.Typer(help="Look after the database.", no_args_is_help=True)
secrets = typer.Typer(help="Look after the secrets of clusters.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command()(serve)
    app.command()(worker)
    app.add_typer(database, name="db")
    app.add_typer(secrets, name="secrets")


def serve() -> None:
    """Serve the HTTP API until SIGTERM or SIGINT."""
    with explained():
        from jeroboam.api.http import server  # noqa: PLC0415 - see above

        asyncio.run(server.serve(_prepared()))


def worker(
    driver: Annotated[
        str | None,
        typer.Option(help="Serve this driver alone; see JEROBOAM_OWN_WORKER_DRIVERS."),
    ] = None,
) -> None:
    """Run operations until SIGTERM or SIGINT."""
    with explained():
        from jeroboam import worker as process  # noqa: PLC0415 - see above

        asyncio.run(process.run(_prepared(), driver))


@database.command()
def upgrade() -> None:
    """Bring the database's schema up to date; safe to run anywhere, any number of times."""
    with explained():
        from jeroboam.store import migrate  # noqa: PLC0415 - see above

        asyncio.run(migrate.upgrade(_prepared().resolved_database_url))
        typer.echo("The database is up to date.")


@secrets.command()
def rotate_key() -> None:
    """Encrypt all stored secrets with the newest key; move them where new ones are kept.

    Give all workers the new key and the old ones first; see JEROBOAM_SECRETS_OLD_KEYS. What was
    broken off goes on where it stopped.
    """
    with explained():
        from jeroboam import secret_access  # noqa: PLC0415 - see above

        if not asyncio.run(secret_access.rotate_key(_prepared(), typer.echo)):
            raise typer.Exit(1)


def _prepared() -> "Settings":
    from jeroboam import logging, settings  # noqa: PLC0415 - see above

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


@contextmanager
def explained() -> Iterator[None]:
    """Turn what the libraries raise into what an operator can mend."""
    from pydantic import ValidationError  # noqa: PLC0415 - see above
    from temporalio.service import RPCError  # noqa: PLC0415 - see above

    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        name = "JEROBOAM_" + "_".join(str(part) for part in first["loc"]).upper()
        raise ConfigurationError(f"The setting {name} is not valid: {first['msg']}.") from error
    except RPCError as error:
        raise JeroboamError(f"Temporal refused: {error.message}") from error
