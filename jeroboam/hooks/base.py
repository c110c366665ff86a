"""The hook contract: act before or after an operation, outside of the driver."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from jeroboam.drivers.base import CloudAccess
from jeroboam.models import ClusterSpec, FailurePolicy, HookPhase, OperationKind


@dataclass(frozen=True)
class HookEvent:
    """What happens to which cluster.

    Args:
        idempotency_key: The same on every retry of this hook within the operation.
    """

    operation: OperationKind
    phase: HookPhase
    spec: ClusterSpec
    cloud: CloudAccess
    idempotency_key: str


class Hook(ABC):
    """One hook, registered under the entry-point group ``jeroboam.hooks``.

    ``runs_after`` names hooks of the same phase that must run earlier; the order is computed from
    it. ``run`` must be idempotent: the engine repeats it after a crash.
    """

    name: ClassVar[str]
    phases: ClassVar[Sequence[HookPhase]]
    operations: ClassVar[Sequence[OperationKind]]
    runs_after: ClassVar[Sequence[str]] = ()
    timeout_seconds: ClassVar[int] = 300
    on_failure: ClassVar[FailurePolicy] = FailurePolicy.FAIL

    @abstractmethod
    def run(self, event: HookEvent) -> None:
        """Act; raise a ``JeroboamError`` to fail. Before an operation that is a veto."""
