"""List parameters, with Magnum's rules."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated
from urllib.parse import urlencode
from uuid import UUID

from fastapi import Depends, Query, Request

from jeroboam.api.http.dependencies import CurrentLinks, Injected
from jeroboam.api.http.links import Links
from jeroboam.errors import InvalidRequestError
from jeroboam.store import Page

LIST_ARGUMENTS = ("marker", "limit", "sort_key", "sort_dir")
LARGEST_NUMBER = 2**63 - 1
"""What databases take for the number of a row."""


class Paging:
    """One list request's page, and the link to the next.

    Args:
        marked_by: The attribute of a row that is its marker.
    """

    def __init__(self, page: Page, links: Links, marked_by: str = "uuid") -> None:
        self.page = page
        self._links = links
        self._marked_by = marked_by

    def next_link(
        self, rows: Sequence[object], *path: str, **filters: str | None
    ) -> dict[str, str]:
        """Return the ``next`` field: nothing unless the page is full.

        Args:
            filters: Arguments of the list that the next page needs as well.
        """
        if len(rows) < self.page.limit:
            return {}
        arguments = {
            "sort_key": self.page.sort_key,
            "sort_dir": self.page.sort_dir,
            **{name: value for name, value in filters.items() if value},
            "limit": self.page.limit,
            "marker": getattr(rows[-1], self._marked_by),
        }
        return {"next": f"{self._links.url(*path)}?{urlencode(arguments)}"}


def only_arguments(*known: str) -> Callable[[Request], None]:
    """Return a dependency which refuses query arguments that are not ``known``."""

    def check(request: Request) -> None:
        for argument in request.query_params:
            if argument not in known:
                raise InvalidRequestError(f'Unknown argument: "{argument}".')

    return check


def _oldest_first(
    dependencies: Injected,
    links: CurrentLinks,
    marker: str | None = None,
    limit: int | None = None,
    sort_key: str = "id",
    sort_dir: Annotated[str, Query(description="asc or desc")] = "asc",
) -> Paging:
    page = _page(dependencies.settings.list_limit, marker, limit, sort_key, sort_dir)
    return Paging(page, links)


def _newest_first(
    dependencies: Injected,
    links: CurrentLinks,
    marker: str | None = None,
    limit: int | None = None,
    sort_key: str = "id",
    sort_dir: Annotated[str, Query(description="asc or desc")] = "desc",
) -> Paging:
    page = _page(dependencies.settings.list_limit, marker, limit, sort_key, sort_dir)
    return Paging(page, links)


def _by_number(
    dependencies: Injected,
    links: CurrentLinks,
    marker: Annotated[int | None, Query(ge=0, le=LARGEST_NUMBER)] = None,
    limit: int | None = None,
    sort_key: str = "id",
    sort_dir: Annotated[str, Query(description="asc or desc")] = "asc",
) -> Paging:
    page = _page(dependencies.settings.list_limit, None, limit, sort_key, sort_dir)
    return Paging(replace(page, marker=marker), links, "id")


def _by_name(
    dependencies: Injected,
    links: CurrentLinks,
    marker: str | None = None,
    limit: int | None = None,
    sort_key: str = "name",
    sort_dir: Annotated[str, Query(description="asc or desc")] = "asc",
) -> Paging:
    page = _page(dependencies.settings.list_limit, None, limit, sort_key, sort_dir)
    return Paging(replace(page, marker=marker), links, "name")


def _page(
    longest: int, marker: str | None, limit: int | None, sort_key: str, sort_dir: str
) -> Page:
    if limit is not None and limit <= 0:
        raise InvalidRequestError("Limit must be positive")
    if sort_dir not in {"asc", "desc"}:
        raise InvalidRequestError(
            f"Invalid sort direction: {sort_dir}. Acceptable values are 'asc' or 'desc'"
        )
    return Page(
        limit=min(limit or longest, longest),
        marker=None if marker is None else _uuid(marker),
        sort_key=sort_key,
        sort_dir=sort_dir,
    )


def _uuid(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        raise InvalidRequestError(f"Expected a uuid but received {text}.") from None


CurrentPaging = Annotated[Paging, Depends(_oldest_first)]
NumberedPaging = Annotated[Paging, Depends(_by_number)]
NamedPaging = Annotated[Paging, Depends(_by_name)]
NewestFirst = Annotated[Paging, Depends(_newest_first)]
no_arguments = Depends(only_arguments())
list_arguments = Depends(only_arguments(*LIST_ARGUMENTS))
DryRunArgument = Annotated[
    bool, Query(description="Only tell what would happen; nothing is written.")
]
RollbackArgument = Annotated[
    bool | None, Query(description="Whether what was done is undone when it fails.")
]
change_arguments = Depends(only_arguments("rollback", "dry_run"))
dry_run_arguments = Depends(only_arguments("dry_run"))
