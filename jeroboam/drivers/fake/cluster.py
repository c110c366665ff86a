"""A pretended cluster: what is known of it, and how its work goes on with time. No I/O."""

from collections.abc import Iterator

from pydantic import Field

from jeroboam.drivers.fake.records import (
    Change,
    Entry,
    Event,
    FakeGroup,
    FakeNode,
    Record,
    Work,
    WorkState,
)
from jeroboam.models import Method, new_uuid


class FakeCluster(Record):
    """One pretended cluster, with all that ever happened to it.

    Args:
        exists: Whether anything of it is there.
        submissions: How often a call has begun work, or gone on with it.
        works: By target, what was begun last.
        leftovers: What stayed behind when it was deleted: kind, name and id.
        credential: The trust that a rotation gave it last.
    """

    uuid: str
    exists: bool = False
    submissions: int = 0
    groups: dict[str, FakeGroup] = Field(default_factory=dict)
    groups_made: int = 0
    works: dict[str, Work] = Field(default_factory=dict)
    leftovers: list[str] = Field(default_factory=list)
    credential: str | None = None
    journal: list[Entry] = Field(default_factory=list)

    @property
    def backend_id(self) -> str:
        """The id that the driver reports."""
        return f"fake-{self.uuid}"

    @property
    def goes_away(self) -> bool:
        """Whether a delete is at work."""
        return any(
            work.method is Method.DELETE_CLUSTER and work.state is WorkState.RUNNING
            for work in self.works.values()
        )

    def nodes(self) -> Iterator[FakeNode]:
        """Yield all nodes."""
        for group in self.groups.values():
            yield from group.nodes

    def work(self, key: str, method: Method) -> Work | None:
        """Return the newest work that a call with a key has begun."""
        found = (work for work in self.works.values() if (work.key, work.method) == (key, method))
        return next(found, None)

    def count(self, event: Event, call: str) -> int:
        """Return how often something happened to a call."""
        return sum(entry.event is event and entry.call == call for entry in self.journal)

    def due(self, now: float) -> bool:
        """Return whether time has moved anything on."""
        return any(_due(work, now) for work in self.works.values())

    def advance(self, now: float) -> None:
        """Do what is due."""
        for work in list(self.works.values()):
            if work.state is WorkState.RUNNING:
                self._advance(work, now)

    def write(self, event: Event, work: Work, now: float, node: FakeNode | None = None) -> None:
        """Add a line to the journal."""
        self.journal.append(
            Entry(
                at=now,
                event=event,
                call=work.call,
                key=work.key,
                subject=node.name if node else None,
                node_id=node.id if node else None,
            )
        )

    def _advance(self, work: Work, now: float) -> None:
        while work.changes and work.changes[0].due <= now:
            self._apply(work, work.changes.pop(0), now)
        if work.ends is None or now < work.ends:
            return
        work.state = work.stop
        self.write(_EVENT_OF_END[work.stop], work, now)
        if work.method is Method.DELETE_CLUSTER and work.state is WorkState.DONE:
            self.exists, self.groups, self.works = False, {}, {}

    def _apply(self, work: Work, change: Change, now: float) -> None:
        group = self.groups.get(change.group)
        if group is None:
            return
        if change.do == "drop":
            del self.groups[change.group]
            return
        node = group.node(change.node)
        if change.do == "create":
            address = f"198.51.{group.number}.{int(change.node.rpartition('-')[2])}"
            node = FakeNode(
                name=change.node,
                address=address,
                version=change.version,
                image=change.image,
                setup=change.setup,
            )
            group.nodes.append(node)
            self.write(Event.CREATED, work, now, node)
        elif node is not None:
            self._apply_to(work, change, group, node, now)

    def _apply_to(
        self, work: Work, change: Change, group: FakeGroup, node: FakeNode, now: float
    ) -> None:
        match change.do:
            case "remove":
                group.nodes.remove(node)
                self.write(Event.REMOVED, work, now, node)
            case "replace":
                node.id, node.version, node.image = new_uuid(), change.version, change.image
                node.setup = change.setup
                self.write(Event.REPLACED, work, now, node)
            case "renew":
                node.authorities = change.authorities
                self.write(Event.RENEWED, work, now, node)
            case "reboot":
                node.reboots.append(work.key)
                self.write(Event.REBOOTED, work, now, node)
            case "rebuild":
                node.rebuilds.append(work.key)
                node.setup = change.setup
                node.status = "ACTIVE"
                self.write(Event.REBUILT, work, now, node)


_EVENT_OF_END = {
    WorkState.DONE: Event.DONE,
    WorkState.FAILED: Event.FAILED,
    WorkState.INTERRUPTED: Event.INTERRUPTED,
}


def _due(work: Work, now: float) -> bool:
    if work.state is not WorkState.RUNNING:
        return False
    over = work.ends is not None and work.ends <= now
    return over or bool(work.changes and work.changes[0].due <= now)
