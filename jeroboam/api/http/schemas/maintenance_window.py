"""Maintenance windows on the wire."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from jeroboam.api.http.schemas.base import (
    Positive,
    RequestModel,
    ResponseModel,
    ShortText,
    Timestamp,
)
from jeroboam.models import utc_now
from jeroboam.models.maintenance import DAYS, MaintenanceWindow


class WindowRequest(RequestModel):
    """Body of ``PUT .../maintenance_window``; either ``start``, with ``days``, or ``cron``."""

    days: Annotated[Sequence[ShortText], Field(max_length=len(DAYS))] = ()
    start: ShortText | None = None
    cron: ShortText | None = None
    duration_minutes: Positive
    time_zone: ShortText = "UTC"

    def window(self) -> MaintenanceWindow:
        """Return the window that is asked for, unchecked."""
        values = self.model_dump()
        values["days"] = tuple(dict.fromkeys(day.lower() for day in self.days))
        return MaintenanceWindow(**values)


class WindowBody(ResponseModel):
    """A window, whether it is open now, and when it opens next."""

    days: Sequence[str]
    start: str | None
    cron: str | None
    duration_minutes: int
    time_zone: str
    open: bool
    next_opening: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp | None

    @classmethod
    def of(cls, window: MaintenanceWindow) -> "WindowBody":
        """Return a window as it is now."""
        now = utc_now()
        return cls(
            **window.model_dump(),
            open=window.is_open(now),
            next_opening=window.next_opening(now),
        )
