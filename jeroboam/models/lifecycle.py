"""The state machine of clusters: what each kind of operation may start from and leads to. Pure.

``docs/state-machine.md`` draws it; the tests walk it. No status is a dead end: from each one that
is not in progress there is at least a delete, and from each failed one a retry.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from jeroboam.models.cluster import Status
from jeroboam.models.kind import OperationKind
from jeroboam.models.operation import OperationState


class OnCancel(StrEnum):
    """What a cancellation does, by kind."""

    ROLL_BACK = "roll_back"
    STOP = "stop"
    REFUSE = "refuse"


CANCEL_WORDS: Mapping[OnCancel, str] = {
    OnCancel.ROLL_BACK: "The step at work is stopped and what was done is rolled back.",
    OnCancel.STOP: (
        "The nodes at work are finished; no further ones are begun. If they do not end, cancel "
        "again with --now (in the API: now)."
    ),
    OnCancel.REFUSE: "A removal cannot be cancelled: what is gone does not come back.",
}

CANCEL_NOW_WORDS: Mapping[OnCancel, str] = {
    **CANCEL_WORDS,
    OnCancel.STOP: "The nodes at work are not waited for and may go on; no others are begun.",
}
"""What is said of a cancellation that does not wait."""


def cancel_words(kind: OperationKind, *, now: bool = False) -> str:
    """Return what a cancellation does.

    Args:
        now: Whether it does not wait for the nodes at work.
    """
    return (CANCEL_NOW_WORDS if now else CANCEL_WORDS)[TRAITS[kind].on_cancel]


@dataclass(frozen=True)
class Words:
    """Magnum's status words for an operation."""

    in_progress: Status
    complete: Status
    failed: Status
    rolling_back: Status
    rolled_back: Status
    roll_back_failed: Status


@dataclass(frozen=True)
class Traits:
    """What holds for a kind of operation.

    Args:
        allowed_from: Statuses of a cluster in which it may start.
        on_cancel: What a cancellation does.
        rolls_back: Whether it returns to the previous state unless the request says otherwise.
        cluster: Words for the cluster; ``None`` leaves its status alone.
        group: Words for the node groups that it works on, where they differ from the cluster's.
    """

    allowed_from: frozenset[Status]
    on_cancel: OnCancel
    rolls_back: bool
    cluster: Words | None
    group: Words | None = None


_CREATE = Words(
    Status.CREATE_IN_PROGRESS,
    Status.CREATE_COMPLETE,
    Status.CREATE_FAILED,
    Status.CREATE_IN_PROGRESS,
    Status.CREATE_FAILED,
    Status.CREATE_FAILED,
)
_DELETE = Words(
    Status.DELETE_IN_PROGRESS,
    Status.DELETE_COMPLETE,
    Status.DELETE_FAILED,
    Status.DELETE_IN_PROGRESS,
    Status.DELETE_FAILED,
    Status.DELETE_FAILED,
)
_UPDATE = Words(
    Status.UPDATE_IN_PROGRESS,
    Status.UPDATE_COMPLETE,
    Status.UPDATE_FAILED,
    Status.ROLLBACK_IN_PROGRESS,
    Status.ROLLBACK_COMPLETE,
    Status.ROLLBACK_FAILED,
)

SETTLED = frozenset(status for status in Status if not status.in_progress)
USABLE = SETTLED - {
    Status.CREATE_FAILED,
    Status.DELETE_FAILED,
    Status.DELETE_COMPLETE,
}
"""Statuses of a cluster that was built once and is not going away; it may be half changed."""

_CHANGE = Traits(USABLE, OnCancel.ROLL_BACK, rolls_back=True, cluster=_UPDATE)
_NODE_WORK = Traits(USABLE, OnCancel.STOP, rolls_back=False, cluster=_UPDATE)
_REMOVAL = Traits(frozenset(Status), OnCancel.REFUSE, rolls_back=False, cluster=_DELETE)

TRAITS: Mapping[OperationKind, Traits] = {
    OperationKind.CREATE: Traits(
        frozenset(), OnCancel.ROLL_BACK, rolls_back=False, cluster=_CREATE
    ),
    OperationKind.UPDATE: _CHANGE,
    OperationKind.RESIZE: _CHANGE,
    OperationKind.UPGRADE: _CHANGE,
    OperationKind.DELETE: _REMOVAL,
    OperationKind.FORCE_DELETE: _REMOVAL,
    OperationKind.REBUILD: _NODE_WORK,
    OperationKind.SOFT_REBOOT: _NODE_WORK,
    OperationKind.HARD_REBOOT: _NODE_WORK,
    OperationKind.CREATE_NODE_GROUP: Traits(
        USABLE, OnCancel.ROLL_BACK, rolls_back=True, cluster=_UPDATE, group=_CREATE
    ),
    OperationKind.UPDATE_NODE_GROUP: _CHANGE,
    OperationKind.DELETE_NODE_GROUP: Traits(
        USABLE, OnCancel.REFUSE, rolls_back=False, cluster=_UPDATE, group=_DELETE
    ),
    OperationKind.ROTATE_CA: _CHANGE,
    OperationKind.ROTATE_CREDENTIAL: _CHANGE,
    OperationKind.CHECK_HEALTH: Traits(SETTLED, OnCancel.STOP, rolls_back=False, cluster=None),
}


class Ending(StrEnum):
    """How an operation can end, as far as the cluster's status is concerned."""

    COMPLETE = "complete"
    FAILED = "failed"
    ROLLED_BACK = "rolled_back"
    ROLL_BACK_FAILED = "roll_back_failed"


def status_after(words: Words, ending: Ending) -> Status:
    """Return the status that an ending leaves behind."""
    return {
        Ending.COMPLETE: words.complete,
        Ending.FAILED: words.failed,
        Ending.ROLLED_BACK: words.rolled_back,
        Ending.ROLL_BACK_FAILED: words.roll_back_failed,
    }[ending]


def refusal(kind: OperationKind, status: Status) -> str | None:
    """Return why an operation may not start in a status, with what to do; ``None`` if it may."""
    if status in TRAITS[kind].allowed_from:
        return None
    if status.in_progress:
        return f"The cluster is {status}. Wait until that has ended, or delete the cluster."
    if status is Status.CREATE_FAILED:
        return (
            f"The cluster was never complete ({status}), so there is nothing to {kind.words}. "
            "Retry its creation, or delete it."
        )
    return f"The cluster is {status}. Delete it again, or have it deleted by force."


def may_retry(state: OperationState) -> bool:
    """Whether an operation that ended so can be taken up again."""
    return state in {OperationState.FAILED, OperationState.CANCELLED}
