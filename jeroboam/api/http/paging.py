"""List parameters, with Magnum's rules."""

from collections.abc import Callable, Sequence
from typing import Annotated, Protocol
from urllib.parse import urlencode
from uuid import UUID

from fastapi import Depends, Query, Request

from jeroboam.api.http.dependencies import CurrentLinks, Injected
from jeroboam.api.http.links import Links
from jeroboam.errors import InvalidRequestError
from jeroboam.store import Page

LIST_ARGUMENTS = ("marker", "limit", "sort_key", "sort_dir")


class Identified(Protocol):
    """Something with a uuid."""

    @property
    def uuid(self) -> str:
        """The uuid."""


class Paging:
    """One list request's page, and the link to the next."""

    def __init__(self, page: Page, links: Links) -> None:
        self.page = page
        self._links = links

    def next_link(
        self, rows: Sequence[Identified], *path: str, role: str | None = None
    ) -> dict[str, str]:
        """Return the ``next`` field: nothing unless the page is full."""
        if len(rows) < self.page.limit:
            return {}
        arguments = {
            "sort_key": self.page.sort_key,
            "sort_dir": self.page.sort_dir,
            **({"role": role} if role else {}),
            "limit": self.page.limit,
            "marker": rows[-1].uuid,
        }
        return {"next": f"{self._links.url(*path)}?{urlencode(arguments)}"}


def only_arguments(*known: str) -> Callable[[Request], None]:
    """Return a dependency which refuses query arguments that are not ``known``."""

    def check(request: Request) -> None:
        for argument in request.query_params:
            if argument not in known:
                raise InvalidRequestError(f'Unknown argument: "{argument}".')

    return check


def _paging(
    dependencies: Injected,
    links: CurrentLinks,
    marker: str | None = None,
    limit: int | None = None,
    sort_key: str = "id",
    sort_dir: Annotated[str, Query(description="asc or desc")] = "asc",
) -> Paging:
    longest = dependencies.settings.list_limit
    if limit is not None and limit <= 0:
        raise InvalidRequestError("Limit must be positive")
    if sort_dir not in {"asc", "desc"}:
        raise InvalidRequestError(
            f"Invalid sort direction: {sort_dir}. Acceptable values are 'asc' or 'desc'"
        )
    page = Page(
        limit=min(limit or longest, longest),
        marker=None if marker is None else _uuid(marker),
        sort_key=sort_key,
        sort_dir=sort_dir,
    )
    return Paging(page, links)


def _uuid(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        raise InvalidRequestError(f"Expected a uuid but received {text}.") from None


CurrentPaging = Annotated[Paging, Depends(_paging)]
no_arguments = Depends(only_arguments())
list_arguments = Depends(only_arguments(*LIST_ARGUMENTS))
create_arguments = Depends(only_arguments("rollback"))
