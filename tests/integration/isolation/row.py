"""One row of the isolation matrix: a route, a request that gets past validation, six answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PEOPLE: Mapping[str, str] = {
    "owner": "member-token",
    "member": "colleague-token",
    "reader": "reader-token",
    "stranger": "stranger-token",
    "nobody": "nobody-token",
    "admin": "operator-token",
}
"""The columns, in order, with their tokens.

``owner`` made everything and is a member of its project; ``member`` and ``reader`` are others of
that project; ``stranger`` is a member of another project; ``nobody`` has a role in the project
which no rule knows; ``admin`` is an administrator of the cloud, in a third project.
"""


@dataclass(frozen=True)
class Row:
    """What each person gets for one request.

    Args:
        route: Method and path, as the application declares it: ``GET /v1/clusters/{ident}``.
        codes: The six status codes in the order of ``PEOPLE``.
        body: What is sent as JSON. ``<thing>`` in its texts becomes the uuid of that thing of
            the world (see ``world.py``).
        about: For a parameter of the path, the thing of the world that it names, where that is
            not the default by the resource before it (``clusters/{...}`` is ``cluster``).
        query: Appended to the path; ``<thing>`` as in the body.
        note: Tells rows of one route apart.
        shared: The answer does not show whose it is, so nothing in it is looked for.
        anonymous: The code without a token; 401 unless the route is public.
    """

    route: str
    codes: str
    body: Any = None
    about: Mapping[str, str] = field(default_factory=dict)
    query: str = ""
    note: str = ""
    shared: bool = False
    anonymous: int = 401

    @property
    def method(self) -> str:
        return self.route.split()[0]

    @property
    def path(self) -> str:
        return self.route.split()[1]

    @property
    def expected(self) -> Mapping[str, int]:
        """Return the code for each person."""
        return dict(zip(PEOPLE, map(int, self.codes.split()), strict=True))

    def __str__(self) -> str:
        return f"{self.route}{self.query}{f' ({self.note})' if self.note else ''}"
