"""What a stack's state means for the operation that somebody waits for. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from jeroboam.drivers.base import Phase, Progress
from jeroboam.models import Method

MAX_MESSAGE = 500

# Heat's words when its own process ended in the middle of an action: of a stack, of one of
# its resources, of a resource whose lock another engine took over.
_BROKEN_OFF = ("Engine went down during", "Worker went down during")
_DELETED = "DELETE_COMPLETE"


@dataclass(frozen=True)
class StackState:
    """The part of a stack's record that tells where it stands.

    Args:
        status: For example ``CREATE_IN_PROGRESS``.
        acted_at: When the last action began, as far as Heat tells.
    """

    id: str
    name: str
    status: str
    reason: str = ""
    tags: tuple[str, ...] = ()
    acted_at: datetime | None = None

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
        )

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
            return any(words in self.reason for words in _BROKEN_OFF)
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
    stack: StackState | None, method: Method, changed_at: datetime | None = None
) -> Progress:
    """Return what the stack means for a call; ``None`` is a stack that is not there."""
    if stack is None or stack.deleted:
        return Progress(phase=Phase.GONE, message="The stack does not exist.")
    phase = _phase(stack, method, changed_at)
    return Progress(phase=phase, message=_message(stack, phase)[:MAX_MESSAGE])


def _phase(stack: StackState, method: Method, changed_at: datetime | None) -> Phase:
    if stack.broken_off(changed_at):
        return Phase.INTERRUPTED
    if method.removes and not stack.status.startswith("DELETE_"):
        # Heat sets the state before it answers a delete, so this one was lost on the way.
        return Phase.INTERRUPTED
    if stack.running:
        return Phase.RUNNING
    return Phase.FAILED if stack.failed else Phase.DONE


def _message(stack: StackState, phase: Phase) -> str:
    words = stack.status.replace("_", " ").lower()
    if phase is Phase.INTERRUPTED:
        return f"Heat broke off (stack {stack.name}: {words}); the work will be submitted again."
    detail = f": {stack.reason}" if phase is Phase.FAILED and stack.reason else ""
    return f"Stack {stack.name}: {words}{detail}"
