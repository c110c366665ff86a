"""The hook contract: act before or after an operation, or when it failed, outside of the driver."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from jeroboam.drivers.base import CloudAccess
from jeroboam.models import (
    ClusterSpec,
    FailurePolicy,
    HookPhase,
    Model,
    OperationKind,
    Parameters,
)

SHORTEST_PART = 8
"""A shorter word of a secret is too common to be blotted out of a text."""


@dataclass(frozen=True)
class Reply:
    """What came back over HTTP; header names are in lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class Outbound(Protocol):
    """The way out for hooks: only to targets that the operator allows, and never by a redirect."""

    def check(self, url: str) -> None:
        """Refuse a target that is not allowed; nothing is sent.

        Raises:
            InvalidRequestError: It is not.
        """

    def post(
        self, url: str, body: bytes, headers: Mapping[str, str], timeout_seconds: float
    ) -> Reply:
        """Send a request and return the reply, whatever its status.

        Raises:
            InvalidRequestError: The target is not allowed.
            ConfigurationError: The target's certificate is not trusted.
            CloudUnavailableError: It does not answer, or not in time.
            DriverContractError: The reply is too large.
        """


@dataclass(frozen=True)
class HookEvent:
    """What happens to which cluster.

    Args:
        spec: The cluster as the operation shall leave it.
        idempotency_key: The same on every retry of this hook within the operation.
        failure: Why the operation failed, in the phase ``FAILURE``.
        options: What the hook's declaration says for it.
        callback_url: Where a hook that answers later posts its answer. Whoever knows it can
            answer: it belongs into no log and no message.
        parameters: What was asked of the operation.
        secret: The secret of the hook's declaration; it belongs into no log and no message.
        outbound: The way out over HTTP; ``None`` in tests that give none.
    """

    operation: OperationKind
    phase: HookPhase
    spec: ClusterSpec
    cloud: CloudAccess
    idempotency_key: str
    operation_id: str = ""
    failure: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    callback_url: str | None = field(default=None, repr=False)
    parameters: Parameters = field(default_factory=Parameters)
    secret: str | None = field(default=None, repr=False)
    outbound: Outbound | None = None

    @property
    def hidden(self) -> tuple[str, ...]:
        """All that must not be shown: the secret, its parts, the callback and its token."""
        url = self.callback_url or ""
        secret = self.secret or ""
        parts = (part for part in secret.split() if len(part) >= SHORTEST_PART)
        return tuple(one for one in (secret, *parts, url, url.rpartition("/")[2]) if one)


class HookResult(Model):
    """What a hook says when it has run.

    Args:
        message: For the operation's record.
        labels: Labels that it adds to the cluster; counts before a create only, and never
            replaces a label that is set.
        later: The answer comes by the callback; until then the operation waits.
    """

    message: str = ""
    labels: Mapping[str, str] = {}
    later: bool = False


class Hook(ABC):
    """One hook, registered under the entry-point group ``jeroboam.hooks``.

    ``runs_after`` names installed hooks that must run earlier; the order is computed from it.
    ``run`` must be idempotent: the engine repeats it after a crash.
    """

    name: ClassVar[str]
    phases: ClassVar[Sequence[HookPhase]]
    operations: ClassVar[Sequence[OperationKind]]
    runs_after: ClassVar[Sequence[str]] = ()
    timeout_seconds: ClassVar[int] = 300
    on_failure: ClassVar[FailurePolicy] = FailurePolicy.FAIL
    automatic: ClassVar[bool] = True
    """Whether it runs as soon as it is installed, or only where it is declared."""

    @abstractmethod
    def run(self, event: HookEvent) -> HookResult | None:
        """Act; raise a ``JeroboamError`` to fail. Before an operation that is a veto."""

    def check(self, options: Mapping[str, Any], secret: str | None, outbound: Outbound) -> None:
        """Check what a declaration gives this hook. No I/O.

        Raises:
            InvalidRequestError: With the option and what would be right.
        """
        _ = options, secret, outbound
