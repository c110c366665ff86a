"""Hooks for the tests of the API: what is installed, and where hooks may send."""

from collections.abc import Mapping
from typing import Any

from jeroboam.errors import InvalidRequestError
from jeroboam.hooks.base import Hook, HookEvent, Outbound
from jeroboam.hooks.callbacks import Callbacks
from jeroboam.hooks.file import DeclaredHooks
from jeroboam.hooks.kit import HookKit
from jeroboam.hooks.outbound import GuardedOutbound
from jeroboam.hooks.registry import HookRegistry
from jeroboam.hooks.targets import Targets
from jeroboam.models import HookPhase, HookSource, OperationKind
from jeroboam.models.hook import HookDeclaration

ALLOWED = "https://hooks.example.org/jeroboam"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


class Painter(Hook):
    """Runs where it is declared, and knows one option."""

    name = "painter"
    phases = (HookPhase.BEFORE, HookPhase.AFTER)
    operations = (OperationKind.CREATE, OperationKind.DELETE)
    automatic = False

    def run(self, event: HookEvent) -> None:
        """Do nothing."""

    def check(self, options: Mapping[str, Any], secret: str | None, outbound: Outbound) -> None:
        """Know one option."""
        if unknown := options.keys() - {"colour"}:
            raise InvalidRequestError(f"Unknown options: {', '.join(sorted(unknown))}.")


def kit() -> HookKit:
    """Return the hooks of the service under test."""
    in_file = HookDeclaration(
        name="audit", source=HookSource.COMMAND, argv=("/bin/true",), phases=(HookPhase.AFTER,),
        enabled=False,
    )  # fmt: skip
    return HookKit(
        registry=HookRegistry([Painter()], DeclaredHooks({"audit": in_file})),
        outbound=GuardedOutbound(Targets([ALLOWED])),
        callbacks=Callbacks(bytes(32), "http://jeroboam.test"),
    )
