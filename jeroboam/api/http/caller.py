"""Who sent a request, with the token that proves it."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from jeroboam.models import Identity
from jeroboam.store import Scope


@dataclass(frozen=True)
class Caller:
    """The authenticated sender of one request.

    Args:
        token: The Keystone token, for calls in the caller's name; never logged.
    """

    identity: Identity
    request_id: str
    token: str = field(repr=False)

    @property
    def scope(self) -> Scope:
        """What the caller may see: the own project, or all for an administrator."""
        return Scope(project_id=None if self.identity.is_admin else self.identity.project_id)

    @property
    def own_project(self) -> Scope:
        """The caller's project, whoever the caller is."""
        return Scope(project_id=self.identity.project_id)


@dataclass(frozen=True)
class Credentials:
    """What authentication may look at; headers that claim an identity are not among it."""

    method: str
    path: str
    token: str | None = field(repr=False)
    service_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Refusal:
    """Why a request is not let in."""

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)


class Authenticate(Protocol):
    """Turns credentials into an identity."""

    def __call__(self, credentials: Credentials) -> Awaitable[Identity | Refusal]:
        """Return the identity (``is_admin`` is decided later, by policy), or a refusal."""
