"""What a database's error means to the caller."""

from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
from sqlalchemy import exc

from jeroboam.errors import (
    ConfigurationError,
    InvalidRequestError,
    JeroboamError,
    StoreUnavailableError,
)

# Classes of SQLSTATE: 08 connection, 53 resources, 57 operator intervention (shutdown, time-out),
# 58 system error, 40 rollback (deadlock), 55 lock not available, 28 log-in, 3D no such database.
_UNAVAILABLE = frozenset({"08", "53", "57", "58", "40", "55", "28", "3D"})
_BAD_VALUE = "22"
_NO_SCHEMA = frozenset({"42P01", "42703", "3F000"})
_NO_SCHEMA_SQLITE = ("no such table", "no such column", "has no column")


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise the library's errors as ours; violated constraints stay the repository's to judge.

    Messages never quote the failed statement: its parameters may be secret.
    """
    try:
        yield
    except exc.IntegrityError:
        raise
    except exc.DBAPIError as error:
        raise _meaning(error) from _cause(error)
    except (exc.TimeoutError, OSError, TimeoutError, asyncpg.PostgresError) as error:
        # The last is what a server says that is starting or stopping; while it connects,
        # SQLAlchemy passes the driver's own errors on as they are.
        raise _unavailable(error) from error


def _meaning(error: exc.DBAPIError) -> JeroboamError:
    state = str(getattr(error.orig, "sqlstate", None) or "")
    text = str(error.orig)
    if state in _NO_SCHEMA or any(sign in text for sign in _NO_SCHEMA_SQLITE):
        return ConfigurationError(
            "The database's schema is missing or older than this version of Jeroboam. "
            "Upgrade it with `jeroboam db upgrade`."
        )
    if state.startswith(_BAD_VALUE) or _unstorable(error):
        return InvalidRequestError("A value is too long, too large or not text for the database.")
    if state and state[:2] not in _UNAVAILABLE and not error.connection_invalidated:
        return JeroboamError(f"The database refused a statement (SQLSTATE {state}).")
    return _unavailable(_cause(error))


def _unstorable(error: exc.DBAPIError) -> bool:
    """Whether the client library refused a value before it was sent."""
    causes = (error.orig, getattr(error.orig, "__cause__", None))
    return any(isinstance(cause, (ValueError, OverflowError)) for cause in causes)


def _cause(error: exc.DBAPIError) -> BaseException:
    return error.orig or error


def _unavailable(error: BaseException) -> StoreUnavailableError:
    return StoreUnavailableError(
        f"The database does not answer ({type(error).__name__}). "
        "Check that it runs and that JEROBOAM_DATABASE_URL is right."
    )
