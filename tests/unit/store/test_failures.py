"""What errors of the database and its driver become."""

import asyncpg
import pytest

from jeroboam.errors import StoreUnavailableError
from jeroboam.store.failures import translate_errors


@pytest.mark.parametrize(
    "error",
    [
        asyncpg.CannotConnectNowError("the database system is not yet accepting connections"),
        asyncpg.TooManyConnectionsError("sorry, too many clients already"),
        ConnectionRefusedError("refused"),
        TimeoutError(),
    ],
)
def test_a_server_that_is_not_ready_may_be_asked_again(error: Exception) -> None:
    """What the driver raises while it connects is our own error, and worth another try."""
    with (
        pytest.raises(StoreUnavailableError, match="does not answer") as caught,
        translate_errors(),
    ):
        raise error
    assert caught.value.retryable
