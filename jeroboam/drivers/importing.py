"""Taking over clusters that something else has built: the contract.

A driver that can work on what another service has left looks at it, and says what it recognises.
It changes nothing: neither when it looks, nor when the cluster becomes a record.
"""

from abc import abstractmethod
from collections.abc import Mapping

from pydantic import Field

from jeroboam.drivers.base import ClusterDriver
from jeroboam.drivers.context import CloudAccess
from jeroboam.models import ClusterSpec, Identity, Model


class ImportWish(Model):
    """What somebody wants to have taken over.

    Args:
        stack: Id or name of what holds the cluster, a Heat stack for example.
        name: What the cluster shall be called; by default what it was called before.
        node_groups: Ids or names of what holds further node groups, besides those that are found.
    """

    stack: str
    name: str | None = None
    node_groups: tuple[str, ...] = ()


class Finding(Model):
    """One thing that was looked for.

    Args:
        what: For example ``node group gpu``.
        found: What it is, in words.
        complete: Whether nothing is missing.
    """

    what: str
    found: str
    complete: bool = True


class Survey(Model):
    """What a driver has recognised.

    Args:
        spec: The cluster as its record would be, with a template made from what is there.
        findings: All that was looked for.
        operations: What can be done with the cluster later; a text says why not, ``None`` that
            all is well.
        needs_keys: What can be done only with the keys of the cluster's authorities, and why.
        obstacles: Why it cannot be taken over now, and what to do.
    """

    spec: ClusterSpec
    findings: tuple[Finding, ...]
    operations: Mapping[str, str | None]
    needs_keys: Mapping[str, str] = Field(default_factory=dict)
    obstacles: tuple[str, ...] = ()


class SupportsImport(ClusterDriver):
    """A driver that can take over clusters which something else has built."""

    @abstractmethod
    def survey(self, cloud: CloudAccess, wish: ImportWish, owner: Identity) -> Survey:
        """Look at what shall be taken over; it has 30 seconds and changes nothing.

        Args:
            cloud: Its tenant sessions are those of whoever asks.
            owner: Who asks; the cluster becomes one of this project.

        Raises:
            NotFoundError: It is not there, or not in the owner's project.
            InvalidRequestError: It is no such cluster; the message names what is missing.
        """
