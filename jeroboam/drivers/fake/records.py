"""The parts of what the pretended backend knows of a cluster."""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from jeroboam.models import Method, new_uuid


class Record(BaseModel):
    """Part of the backend's file; unlike a ``Model`` it may be changed in place."""

    model_config = ConfigDict(extra="forbid")


class Event(StrEnum):
    """What the journal tells."""

    CALLED = "called"
    UNAVAILABLE = "unavailable"
    HUNG = "hung"
    CRASHED = "crashed"
    LIED = "lied"
    BEGUN = "begun"
    RESUMED = "resumed"
    REPEATED = "repeated"
    OVERTAKEN = "overtaken"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    DONE = "done"
    CREATED = "created"
    REMOVED = "removed"
    REPLACED = "replaced"
    RENEWED = "renewed"
    REBUILT = "rebuilt"
    REBOOTED = "rebooted"
    LEFT_BEHIND = "left behind"


class Entry(Record):
    """One line of the journal.

    Args:
        call: The call that it is about, as labels name it.
        key: That call's idempotency key.
        subject: Name of the node or node group.
        node_id: The node's id at that time.
    """

    at: float
    event: Event
    call: str
    key: str
    subject: str | None = None
    node_id: str | None = None


class FakeNode(Record):
    """One pretended machine.

    Args:
        reboots: Idempotency keys of the calls that rebooted it, one for each time.
        rebuilds: The same for rebuilds.
        setup: What the driver's templates said when it was set up.
        authorities: Digests of the certificates that it trusts, if they were ever renewed; the one
            that signed its own comes first.
    """

    name: str
    address: str
    id: str = Field(default_factory=new_uuid)
    status: str = "ACTIVE"
    version: str
    image: str
    setup: str = ""
    authorities: list[str] = []
    reboots: list[str] = []
    rebuilds: list[str] = []


class FakeGroup(Record):
    """One pretended node group; ``names_given`` keeps names of removed nodes from coming back."""

    uuid: str
    name: str
    number: int
    role: str
    nodes: list[FakeNode] = []
    names_given: int = 0

    def node(self, name: str) -> FakeNode | None:
        """Return a node by its name."""
        return next((node for node in self.nodes if node.name == name), None)


class Change(Record):
    """One thing that a work does to one node, or to a group when its nodes are through.

    Args:
        due: When, in seconds since the epoch.
    """

    do: Literal["create", "remove", "replace", "renew", "reboot", "rebuild", "drop"]
    group: str
    node: str
    due: float = 0.0
    version: str = ""
    image: str = ""
    setup: str = ""
    authorities: list[str] = []


class WorkState(StrEnum):
    """Where a work stands."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    OVERTAKEN = "overtaken"


class Work(Record):
    """What one call has begun.

    Args:
        target: uuid of the node group that changes; ``cluster``; or the key, for single nodes.
        ends: When it is over, in seconds since the epoch; ``None`` is never.
        stop: What becomes of it when it is over.
        culprit: The node at which it fails.
    """

    method: Method
    call: str
    key: str
    target: str
    state: WorkState = WorkState.RUNNING
    changes: list[Change] = []
    ends: float | None = 0.0
    stop: WorkState = WorkState.DONE
    reason: str = ""
    culprit: str = ""

    @property
    def lied(self) -> bool:
        """Whether it will never end."""
        return self.ends is None
