"""What is noted of the last call about a cluster, and how far it is by that. Pure.

The note is the metadata of a profile: those of a cluster of Senlin's change only when nothing is
at work on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from jeroboam.drivers.base import Phase, Progress
from jeroboam.drivers.openstack import redact

MARK = "jeroboam_cluster"
"""Metadata of all objects: uuid of the cluster of Jeroboam's."""

NODE, PORT, GROUP = "jeroboam_node", "jeroboam_port", "jeroboam_group"
"""Metadata of nodes, and of clusters: name of the server, id of its port, uuid of the group."""

_CALL = "call"
_LISTS = ("names", "wanted", "leaving", "actions", "ports")
_ENDED = frozenset({"SUCCEEDED", "FAILED", "CANCELLED"})
_LONGEST = 500

Objects = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Record:
    """The last call about a cluster.

    Args:
        id: Of the profile.
        call: Digest of the call; empty until all of it has come to Senlin.
        names: Of all nodes, and of their profiles, that may have been made.
        wanted: Names of the nodes that the call wants to be there.
        leaving: Ids of Senlin's nodes and clusters that the call wants to be gone.
        actions: Ids of the actions that remove them.
        ports: Ids of the ports that have to go when they have gone.
        written: The metadata as Senlin has them.
    """

    id: str
    cluster: str
    project: str
    call: str = ""
    names: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()
    leaving: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    written: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def name_of(cluster: str) -> str:
        """Return the name of the profile that holds the record."""
        return f"jeroboam-{cluster}"

    @classmethod
    def of(cls, profile: Mapping[str, Any]) -> "Record":
        """Read a profile."""
        notes = dict(profile.get("metadata") or {})
        return cls(
            id=str(profile["id"]),
            cluster=str(notes.get(MARK) or ""),
            project=str(profile.get("project") or ""),
            call=str(notes.get(_CALL) or ""),
            written=notes,
            **{name: tuple(notes.get(name) or ()) for name in _LISTS},
        )

    def begun(self, names: Sequence[str]) -> "Record":
        """Return the record of a call of which not all has come to Senlin yet.

        Args:
            names: Of the nodes that it may make.
        """
        known = tuple(sorted({*self.names, *names}))
        return replace(self, call="", names=known, wanted=(), leaving=(), actions=(), ports=())

    def metadata(self) -> dict[str, Any]:
        """Return the record as metadata."""
        return {
            MARK: self.cluster,
            _CALL: self.call,
            **{name: list(getattr(self, name)) for name in _LISTS},
        }


def removal(record: Record, there: Objects, actions: Objects) -> Progress:
    """Return how far it is that everything has gone which a call wants to be gone.

    Args:
        there: Senlin's nodes and clusters of the cluster.
        actions: Those of the record, as Senlin knows them.
    """
    left = [one for one in there if one["id"] in record.leaving]
    if not left:
        return Progress(phase=Phase.DONE, message="Senlin has removed what was to go")
    if removing(actions):
        return Progress(phase=Phase.RUNNING, message=f"Senlin removes {len(left)} objects")
    reasons = [*_reasons(actions), *_reasons(left)]
    return Progress(phase=Phase.FAILED, message=("; ".join(reasons) or "not removed")[:_LONGEST])


def removing(actions: Objects) -> bool:
    """Tell whether Senlin is still at an action; one that it has forgotten has ended."""
    return any(one and one["status"] not in _ENDED for one in actions)


def creation(record: Record, nodes: Objects) -> Progress:
    """Return how far it is that everything is there which a call wants.

    Args:
        nodes: Senlin's nodes of the cluster.
    """
    mine = {name_of(one): one for one in nodes if one["id"] not in record.leaving}
    missing = [name for name in record.wanted if name not in mine]
    if missing:
        words = f"Senlin does not know {', '.join(missing)}"
        return Progress(phase=Phase.INTERRUPTED, message=words[:_LONGEST])
    wanted = {name: mine[name] for name in record.wanted}
    made = [name for name, node in wanted.items() if node["status"] == "ACTIVE"]
    faults = {
        name: redact(str(node.get("status_reason") or "Senlin gives no reason"))[:_LONGEST]
        for name, node in wanted.items()
        if node["status"] == "ERROR"
    }
    if len(made) + len(faults) < len(wanted):
        words = f"Senlin has made {len(made)} of {len(wanted)} nodes"
        return Progress(phase=Phase.RUNNING, message=words)
    if faults:
        words = "; ".join(f"{name}: {reason}" for name, reason in faults.items())
        return Progress(phase=Phase.FAILED, message=words[:_LONGEST], faults=faults)
    return Progress(phase=Phase.DONE, message=f"Senlin has made {len(made)} nodes")


def name_of(node: Mapping[str, Any]) -> str:
    """Return the name of a node's server."""
    return str((node.get("metadata") or {}).get(NODE) or "")


def _reasons(objects: Objects) -> list[str]:
    return [redact(str(one["status_reason"])) for one in objects if one.get("status_reason")]
