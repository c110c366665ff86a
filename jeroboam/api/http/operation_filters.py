"""The filters of lists of operations."""

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, TypeVar
from uuid import UUID

from fastapi import Depends, Query

from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.errors import InvalidRequestError
from jeroboam.models import OperationKind, OperationState
from jeroboam.store import OperationFilter

FILTERS = ("kind", "state", "schedule", "since")

Word = TypeVar("Word", bound=StrEnum)


class Filters:
    """Which operations are wanted, as the query says it.

    Args:
        kind: Kinds, separated by commas.
        state: States, separated by commas.
        schedule: uuid of the schedule that asked for them.
        since: Only those that were asked for then or later.
    """

    def __init__(
        self,
        kind: Annotated[str | None, Query(description="kinds, separated by commas")] = None,
        state: Annotated[str | None, Query(description="states, separated by commas")] = None,
        schedule: Annotated[str | None, Query(description="uuid of a schedule")] = None,
        since: Annotated[
            str | None, Query(description="ISO 8601; without an offset it is UTC")
        ] = None,
    ) -> None:
        self._given = {"kind": kind, "state": state, "schedule": schedule, "since": since}

    @property
    def arguments(self) -> Mapping[str, str | None]:
        """The filters as query arguments, for the link to the next page."""
        return self._given

    def wanted(self, cluster_id: str | None) -> OperationFilter:
        """Return what to ask the store for.

        Raises:
            InvalidRequestError: A filter cannot be understood; the message says what could.
        """
        since, schedule = self._given["since"], self._given["schedule"]
        return OperationFilter(
            cluster_id=cluster_id,
            kinds=_words(OperationKind, "kind", self._given["kind"]),
            states=_words(OperationState, "state", self._given["state"]),
            schedule_id=schedule and _uuid(schedule),
            since=_moment(since) if since else None,
        )


CurrentFilters = Annotated[Filters, Depends(Filters)]


async def cluster_of(dependencies: Dependencies, caller: Caller, ident: str) -> str:
    """Return the uuid of a cluster that may be gone; one that is gone has no name any more.

    Raises:
        NotFoundError: No cluster of the caller's has the name.
    """
    try:
        return str(UUID(ident))
    except ValueError:
        return (await dependencies.store.clusters.get(ident, caller.scope)).uuid


def _words(words: type[Word], argument: str, text: str | None) -> tuple[Word, ...]:
    known = {word.lower(): word for word in words}
    given = [part.strip() for part in (text or "").split(",") if part.strip()]
    for one in given:
        if one.lower() not in known:
            raise InvalidRequestError(
                f"Unknown {argument} '{one[:100]}'. There are: {', '.join(words)}."
            )
    return tuple(known[one.lower()] for one in given)


def _uuid(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        raise InvalidRequestError(f"Expected a uuid but received {text[:100]}.") from None


def _moment(text: str) -> datetime:
    try:
        # In a query a plus that nobody quoted arrives as a blank.
        moment = datetime.fromisoformat(text.replace(" ", "+") if "T" in text else text)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidRequestError(
            f"'{text[:100]}' is no time. Give one as 2026-01-31T12:00:00+00:00."
        ) from None
