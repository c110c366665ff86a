"""What drivers in workers of their own tell of themselves, and what they are asked."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import Field

from jeroboam.models.base import Model, RunInput, utc_now

ASK_DRIVER_WORKFLOW = "AskDriver"


class Kind(Model):
    """One kind of cluster that a driver builds."""

    server_type: str
    os: str
    coe: str


class RouteDescription(Model):
    """One route that a driver adds to the API, as ``drivers.coe_api.Route`` declares it.

    Args:
        request: JSON schema of the input.
        answer: JSON schema of the answer.
    """

    verb: str
    path: str
    rule: str
    access: str
    summary: str
    request: Mapping[str, Any]
    answer: Mapping[str, Any]


class CoeApiDescription(Model):
    """All routes that a driver adds, below the name of its engine."""

    coe: str
    routes: tuple[RouteDescription, ...]


class DriverDescription(Model):
    """What the other processes must know of a driver that they cannot import.

    Args:
        source: The package, or the folder, in its worker's environment.
        abilities: Names as ``drivers.sources.abilities`` gives them.
        files: Digest of what new clusters are built from.
        coe_api: The routes that it adds to the API.
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
    coe_api: CoeApiDescription | None = None
    host: str = ""
    seen_at: datetime = Field(default_factory=utc_now)


class DriverQuestion(RunInput):
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
