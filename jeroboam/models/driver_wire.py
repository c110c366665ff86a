"""What drivers in workers of their own tell of themselves, and what they are asked."""

from datetime import datetime

from pydantic import Field

from jeroboam.models.base import Model, utc_now

ASK_DRIVER_WORKFLOW = "AskDriver"


class Kind(Model):
    """One kind of cluster that a driver builds."""

    server_type: str
    os: str
    coe: str


class DriverDescription(Model):
    """What the other processes must know of a driver that they cannot import.

    Args:
        source: The package, or the folder, in its worker's environment.
        abilities: Names as ``drivers.sources.abilities`` gives them.
        files: Digest of what new clusters are built from.
        host: Where its worker runs, of several the last that was started.
        seen_at: When a worker of it was alive.
    """

    name: str
    version: str
    source: str
    provides: tuple[Kind, ...]
    abilities: tuple[str, ...] = ()
    uses_cloud: bool = True
    files: str | None = None
    host: str = ""
    seen_at: datetime = Field(default_factory=utc_now)


class DriverQuestion(Model):
    """One check that a driver makes before a request is accepted.

    Args:
        method: Name of the driver's method.
        sealed: The arguments, encrypted: a template may name a proxy with its password, and
            Temporal keeps what is asked.
    """

    driver: str
    method: str
    sealed: str


def driver_queue(task_queue: str, driver: str) -> str:
    """Return the queue of a driver's own workers.

    Args:
        task_queue: The product's own queue.
    """
    return f"{task_queue}-driver-{driver}"
