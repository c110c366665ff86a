"""An operation as the API tells of it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from jeroboam.cli.client.text import moment, one_line

SUCCEEDED = "SUCCEEDED"
ENDED = frozenset({SUCCEEDED, "FAILED", "CANCELLED", "REJECTED"})
WAITING = "PENDING"
RUNNING = "RUNNING"


@dataclass(frozen=True)
class Step:
    """One step.

    Args:
        detail: The last error, else what came of it, else its latest news while it is at work.
    """

    name: str
    state: str = WAITING
    attempts: int = 0
    started_at: datetime | None = None
    ended_at: datetime | None = None
    detail: str = ""
    undoes: bool = False

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Self:
        """Return a step of the API's record."""
        state = body.get("state", WAITING)
        # What a step told on its way is no news when it has ended.
        news = body.get("message") if state == RUNNING else None
        said = body.get("error") or body.get("result") or news or ""
        return cls(
            name=one_line(body["name"]),
            state=state,
            attempts=body.get("attempts") or 0,
            started_at=moment(body.get("started_at")),
            ended_at=moment(body.get("ended_at")),
            detail=one_line(said),
            undoes=body.get("undoes", False),
        )

    def seconds(self, now: datetime) -> float | None:
        """Return how long it took, or takes so far; ``None`` before it has begun."""
        if self.started_at is None:
            return None
        return ((self.ended_at or now) - self.started_at).total_seconds()

    @property
    def remark(self) -> str:
        """What there is to say about it, with the attempt where it is not the first."""
        attempt = f"attempt {self.attempts}" if self.attempts > 1 else ""
        return ": ".join(filter(None, (attempt, self.detail)))


@dataclass(frozen=True)
class Operation:
    """One operation at one moment of the service's clock."""

    uuid: str
    title: str
    state: str
    created_at: datetime
    ended_at: datetime | None
    reason: str
    steps: tuple[Step, ...]
    at: datetime

    @classmethod
    def of(cls, body: Mapping[str, Any], at: datetime) -> Self:
        """Return the API's record as it was at a time."""
        created_at = moment(body["created_at"])
        return cls(
            uuid=body["uuid"],
            title=f"{body['kind'].replace('_', ' ')} of {one_line(body['cluster_name'])}",
            state=body["state"],
            created_at=created_at or at,
            ended_at=moment(body.get("ended_at")),
            reason=one_line(body.get("reason") or ""),
            steps=tuple(Step.of(step) for step in body["steps"]),
            at=at,
        )

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it, unless somebody retries it."""
        return self.state in ENDED

    @property
    def succeeded(self) -> bool:
        """Whether it did what it was asked."""
        return self.state == SUCCEEDED

    @property
    def seconds(self) -> float:
        """How long it took, or takes so far."""
        return max(0.0, ((self.ended_at or self.at) - self.created_at).total_seconds())

    def since_start(self, when: datetime | None) -> float:
        """Return how long after the operation's acceptance a moment was, in seconds."""
        return max(0.0, ((when or self.at) - self.created_at).total_seconds())
