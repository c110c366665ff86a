"""What an engine has to do for a driver of servers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any

from jeroboam.drivers.base import DriverContext, Poller
from jeroboam.drivers.nodes.files import Files
from jeroboam.models import Cluster, Method

_DIGEST = 24


class Work(StrEnum):
    """What an engine can be asked for; its workflow, or playbook, has the same name."""

    APPLY = "apply"
    REBUILD = "rebuild"
    DESTROY = "destroy"


@dataclass(frozen=True)
class Job:
    """One piece of work of an engine.

    Args:
        key: Digest of the driver's method and the idempotency key.
        files: Where the engine's workflows or playbooks are.
        order: Returns the input, a JSON document that may hold secrets; called when nothing else
            works on the cluster any more.
        timeout_minutes: The longest that the work may take.
    """

    cluster: Cluster
    work: Work
    key: str
    files: Files
    order: Callable[[], Mapping[str, Any]]
    timeout_minutes: int


class Engine(ABC):
    """Runs jobs, one at a time for each cluster."""

    @abstractmethod
    def submit(self, context: DriverContext, job: Job) -> bool:
        """Start a job and return at once.

        A job that is at work, or has ended well, is not started again. Whatever else is at work
        on the cluster is stopped before.

        Returns:
            Whether it has been started now.

        Raises:
            CloudUnavailableError: The engine does not answer, or what is to be stopped has not
                ended yet; the same call may succeed later.
        """

    @abstractmethod
    def has_done(self, context: DriverContext, cluster: Cluster, key: str) -> bool:
        """Tell whether a job has ended well."""

    def leftovers(self, context: DriverContext, cluster: Cluster) -> Sequence[str]:
        """List what an engine has of a cluster that is no server; most have nothing that lasts."""
        _ = context, cluster
        return ()

    @abstractmethod
    def poller(self) -> Poller:
        """Return the engine's poller; those of one engine are of one type."""


def job_key(method: Method, idempotency_key: str) -> str:
    """Return the digest by which an engine finds the job of a call."""
    return sha256(f"{method.value}:{idempotency_key}".encode()).hexdigest()[:_DIGEST]
