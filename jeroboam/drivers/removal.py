"""What is done when the backend says that a cluster is gone: it is verified."""

from collections.abc import Sequence

import structlog

from jeroboam.drivers.base import ClusterDriver, DriverContext
from jeroboam.errors import CloudUnavailableError, JeroboamError
from jeroboam.models import ClusterSpec

ROUNDS = 2
"""How often what came to light is removed before it is named."""

log = structlog.get_logger(__name__)


def remove_leftovers(
    driver: ClusterDriver, context: DriverContext, spec: ClusterSpec
) -> Sequence[str]:
    """Have the driver remove what a deleted cluster has left; return what stays in spite of it.

    A backend that was stopped in the middle of its work may have made something at the last
    moment, and does not know of it. The driver's delete removes that, as in every other state.
    """
    left = driver.find_leftovers(context, spec)
    for _ in range(ROUNDS):
        if not left:
            break
        before = set(left)
        _delete(driver, context, spec, left)
        left = driver.find_leftovers(context, spec)
        if set(left) == before:
            break
    return left


def _delete(
    driver: ClusterDriver, context: DriverContext, spec: ClusterSpec, left: Sequence[str]
) -> None:
    """Delete once more; what is left is named also where that may only succeed later."""
    try:
        driver.delete_cluster(context, spec)
    except JeroboamError as error:
        if error.retryable:
            message = f"{error.message} Left in the cloud as yet: {', '.join(left)}."
            raise CloudUnavailableError(message) from None
        log.warning("leftovers_kept", reason=error.message)
