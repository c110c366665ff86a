"""What a stack's state means for the operation that somebody waits for. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from jeroboam.drivers.base import Phase, Progress, Watch
from jeroboam.drivers.heat.tags import group_tag, is_group_tag, key_tag
from jeroboam.models import Method

MAX_MESSAGE = 500

# Heat's words when its own process ended in the middle of an action: of a stack, of one of
# its resources, of a resource whose lock another engine took over.
_BROKEN_OFF = ("Engine went down during", "Worker went down during")

# A stack that is changed again while it is being changed has Heat cancel what its nested stacks
# are at. One of them may say so to the later change, which then fails by the earlier one.
_OVERTAKEN = re.compile(r"Resource [A-Z]+ failed: .*Stack [A-Z]+ cancelled")
_DELETED = "DELETE_COMPLETE"


@dataclass(frozen=True, eq=False)
class StackState:
    """The part of a stack's record that tells where it stands.

    Args:
        status: For example ``CREATE_IN_PROGRESS``.
        acted_at: When the last action began, as far as Heat tells.
        parameters: As Heat shows them when it is asked for the one stack; hidden ones are not.
    """

    id: str
    name: str
    status: str
    reason: str = ""
    tags: tuple[str, ...] = ()
    acted_at: datetime | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "StackState":
        """Read a record of Heat's list or show call."""
        acted = record.get("updated_time") or record.get("creation_time")
        return cls(
            id=str(record["id"]),
            name=str(record.get("stack_name", "")),
            status=str(record.get("stack_status", "")),
            reason=str(record.get("stack_status_reason") or ""),
            tags=tuple(record.get("tags") or ()),
            acted_at=parse_time(acted),
            parameters=record.get("parameters") or {},
        )

    @property
    def own_group(self) -> bool:
        """Whether it is a node group's own stack."""
        return any(is_group_tag(tag) for tag in self.tags)

    def submitted(self, idempotency_key: str) -> bool:
        """Whether the last thing that was asked of it is the call with this key."""
        return key_tag(idempotency_key) in self.tags

    @property
    def running(self) -> bool:
        """Whether Heat says that it is at work."""
        return self.status.endswith("_IN_PROGRESS")

    @property
    def failed(self) -> bool:
        """Whether the last action failed."""
        return self.status.endswith("_FAILED")

    @property
    def deleted(self) -> bool:
        """Whether only the record is left."""
        return self.status == _DELETED

    def broken_off(self, engines_changed_at: datetime | None) -> bool:
        """Whether Heat stopped in the middle of an action.

        Args:
            engines_changed_at: When an engine of Heat last started or was lost, if known.
        """
        if self.failed:
            told = any(words in self.reason for words in _BROKEN_OFF)
            return told or _OVERTAKEN.search(self.reason) is not None
        if not self.running or self.acted_at is None or engines_changed_at is None:
            return False
        return engines_changed_at > self.acted_at


def parse_time(value: object) -> datetime | None:
    """Read Heat's UTC times, with or without fraction and zone."""
    if not isinstance(value, str) or not value:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def engines_changed_at(services: Iterable[Mapping[str, Any]]) -> datetime | None:
    """Return when an engine last started or was lost.

    An action that began earlier may have lost the engine that worked at it. Where an engine was
    merely added this is a false alarm, and the remedy, to submit the stack again, does no harm.
    """
    moments = (_changed_at(service) for service in services)
    return max((moment for moment in moments if moment), default=None)


def _changed_at(service: Mapping[str, Any]) -> datetime | None:
    """Return the start of an engine that is up, or the latest possible end of one that is not."""
    if service.get("status") == "up":
        return parse_time(service.get("created_at"))
    heard = parse_time(service.get("updated_at"))
    return heard + timedelta(seconds=float(service.get("report_interval") or 0)) if heard else None


def progress(
    stacks: Sequence[StackState], watch: Watch, changed_at: datetime | None = None
) -> Progress:
    """Return what a cluster's stacks mean for the call that is waited for.

    Args:
        stacks: All stacks of the cluster, those of its node groups included.
        changed_at: When an engine of Heat last started or was lost, if known.
    """
    awaited = _awaited([stack for stack in stacks if not stack.deleted], watch)
    if not awaited:
        return Progress(phase=Phase.GONE, message="The stack does not exist.")
    phases = {stack: _phase(stack, watch, changed_at) for stack in awaited}
    stack = min(awaited, key=lambda one: _ORDER.index(phases[one]))
    return Progress(phase=phases[stack], message=_message(stack, phases[stack])[:MAX_MESSAGE])


# Of several stacks, the one that decides: nothing is over while one of them is at work.
_ORDER = (Phase.RUNNING, Phase.INTERRUPTED, Phase.FAILED, Phase.DONE, Phase.GONE)


def _awaited(stacks: Sequence[StackState], watch: Watch) -> list[StackState]:
    """Return the stacks that a call is about. A cluster goes after all its node groups."""
    groups = [stack for stack in stacks if stack.own_group]
    clusters = [stack for stack in stacks if not stack.own_group]
    if watch.method is Method.DELETE_CLUSTER:
        return groups or clusters
    own = [stack for stack in groups if group_tag(watch.node_group or "") in stack.tags]
    if watch.method in {Method.CREATE_NODE_GROUP, Method.DELETE_NODE_GROUP}:
        return own
    return own or clusters


def _phase(stack: StackState, watch: Watch, changed_at: datetime | None) -> Phase:
    if stack.broken_off(changed_at):
        return Phase.INTERRUPTED
    if watch.method.removes:
        # Heat sets the state before it answers a delete, so this one was lost on the way, or it
        # is the turn of the cluster's stack now that those of the node groups are gone.
        if not stack.status.startswith("DELETE_"):
            return Phase.INTERRUPTED
    elif not stack.submitted(watch.key):
        return Phase.INTERRUPTED
    if stack.running:
        return Phase.RUNNING
    return Phase.FAILED if stack.failed else Phase.DONE


def _message(stack: StackState, phase: Phase) -> str:
    words = stack.status.replace("_", " ").lower()
    if phase is Phase.INTERRUPTED:
        return f"Heat is not at work on it (stack {stack.name}: {words}); it has to be asked again."
    detail = f": {stack.reason}" if phase is Phase.FAILED and stack.reason else ""
    return f"Stack {stack.name}: {words}{detail}"
