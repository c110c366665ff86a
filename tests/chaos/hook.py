"""A hook that hangs, lies or crashes when a file tells it to."""

import json
import time
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from jeroboam.errors import InvalidRequestError
from jeroboam.hooks.base import Hook, HookEvent, HookResult
from jeroboam.models import HookPhase, OperationKind

VETO = "A veto by the fault harness."


class Mischief(StrEnum):
    """What a hook may do wrong.

    ``LIE`` says that the answer comes later, and it never does.
    """

    HANG = "hang"
    SLOW = "slow"
    LIE = "lie"
    CRASH_ONCE = "crash-once"
    CRASH = "crash"
    VETO = "veto"

    @property
    def fatal(self) -> bool:
        """Whether the operation must fail by it."""
        return self not in {self.SLOW, self.CRASH_ONCE}


class ChaosHook(Hook):
    """Runs around every operation.

    Args:
        directory: Of the run; ``hooks/<operation>`` says what to do in which phase.
    """

    name: ClassVar[str] = "chaos"
    phases: ClassVar = (HookPhase.BEFORE, HookPhase.AFTER)
    operations: ClassVar = tuple(OperationKind)
    timeout_seconds: ClassVar[int] = 90

    def __init__(self, directory: Path) -> None:
        self._directory = directory / "hooks"
        self._directory.mkdir(parents=True, exist_ok=True)

    def prepare(self, operation: str, phase: HookPhase, mischief: Mischief) -> None:
        """Tell the hook what to do in an operation that is not asked for yet."""
        (self._directory / operation).write_text(json.dumps([phase, mischief]))

    def forget(self, operation: str) -> None:
        """Let the hook behave in an operation."""
        (self._directory / operation).unlink(missing_ok=True)

    def run(self, event: HookEvent) -> HookResult | None:
        """Do what is asked."""
        wanted = None
        with suppress(FileNotFoundError):
            phase, wanted = json.loads((self._directory / event.operation_id).read_text())
            wanted = wanted if phase == event.phase else None
        match wanted:
            case Mischief.HANG:
                time.sleep(self.timeout_seconds + 5)
            case Mischief.SLOW:
                time.sleep(0.5)
            case Mischief.LIE:
                return HookResult(later=True)
            case Mischief.CRASH_ONCE:
                self.forget(event.operation_id)
                raise RuntimeError("crashed once")
            case Mischief.CRASH:
                raise RuntimeError("crashed")
            case Mischief.VETO:
                raise InvalidRequestError(VETO)
        return None
