"""Hooks, events and declarations for tests: valid, and different only in what a test names."""

from collections.abc import Sequence
from typing import Any

from jeroboam.hooks.base import Hook, HookEvent, HookResult
from jeroboam.models import FailurePolicy, HookPhase, HookSource, OperationKind
from jeroboam.models.hook import HookDeclaration
from tests.fakes import NoCloud
from tests.unit.specs import make_spec

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
CALLBACK = "http://jeroboam.test/v1/operations/o/hooks/token-of-the-callback"


def a_hook(
    hook_name: str,
    *,
    after: Sequence[str] = (),
    runs_by_itself: bool = True,
    in_phases: Sequence[HookPhase] = (HookPhase.BEFORE,),
    with_operations: Sequence[OperationKind] = (OperationKind.CREATE,),
    policy: FailurePolicy = FailurePolicy.FAIL,
) -> Hook:
    class Named(Hook):
        name = hook_name
        phases = tuple(in_phases)
        operations = tuple(with_operations)
        runs_after = tuple(after)
        automatic = runs_by_itself
        on_failure = policy

        def run(self, event: HookEvent) -> HookResult | None:
            """Do nothing."""

    return Named()


def a_declaration(name: str = "approve", **changes: Any) -> HookDeclaration:
    values: dict[str, Any] = {
        "name": name,
        "source": HookSource.WEBHOOK,
        "url": "https://hooks.example.org/jeroboam",
        "phases": (HookPhase.BEFORE,),
    }
    return HookDeclaration(**values | changes)


def declared_python(name: str, **changes: Any) -> HookDeclaration:
    return HookDeclaration(**{"name": name, "source": HookSource.PYTHON} | changes)


def an_event(**changes: Any) -> HookEvent:
    values: dict[str, Any] = {
        "operation": OperationKind.CREATE,
        "phase": HookPhase.BEFORE,
        "spec": make_spec(),
        "cloud": NoCloud(),
        "idempotency_key": "cluster:operation:Before create: hook approve",
        "operation_id": "operation",
        "callback_url": CALLBACK,
        "secret": SECRET,
    }
    return HookEvent(**values | changes)
