"""One fact about Magnum's API: a request, and what its answer must be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Fact:
    """What Magnum does, or what Jeroboam does instead on purpose.

    Args:
        route: Method and path, as the application declares it.
        says: The fact, as the documentation has it.
        ask: The path that is asked for; ``<thing>`` in it, as in the body, becomes the uuid of that
            thing of the world. By default the route itself with the things of its parameters.
        body: What is sent as JSON.
        status: Of the answer.
        token: Whose; ``None`` is nobody's.
        version: Microversion that is asked for; ``None`` sends no header.
        sends: Further headers of the request.
        has: A part of an error's detail.
        code: The code of an error.
        of: The key of a list in the answer, whose first item is looked at.
        keys: All keys of the object.
        shows: Fields of the object.
        headers: Headers of the answer; ``None`` for one that must not be there.
        magnum: What Magnum does where this differs, with the reason for it.
    """

    route: str
    says: str
    ask: str = ""
    body: Any = None
    status: int = 200
    token: str | None = "member-token"
    version: str | None = "1.14"
    sends: Mapping[str, str] = field(default_factory=dict)
    has: str = ""
    code: str | None = None
    of: str = ""
    keys: frozenset[str] | None = None
    shows: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str | None] = field(default_factory=dict)
    magnum: str = ""

    @property
    def method(self) -> str:
        return self.route.split()[0]

    @property
    def path(self) -> str:
        return self.ask or self.route.split()[1].replace("{", "<").replace("}", ">")


def words(*texts: str) -> frozenset[str]:
    """Return all words of some texts."""
    return frozenset(" ".join(texts).split())
