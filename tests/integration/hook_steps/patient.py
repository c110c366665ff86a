"""A hook that notes each attempt in a file, and then sleeps, hangs or fails.

Started as a program, ``python -m ... <Temporal> <queue> <directory>``, a worker with this hook,
to be killed; the death of its predecessor is noticed within seconds.
"""

import asyncio
import sys
import time
from pathlib import Path

from jeroboam import temporal
from jeroboam.errors import CloudUnavailableError
from jeroboam.hooks.base import Hook, HookEvent
from jeroboam.models import HookPhase, OperationKind
from jeroboam.settings import Settings
from tests.chaos.worker import hasten
from tests.integration.engine import running_engine

TIMEOUT_SECONDS = 2


class Patient(Hook):
    """Takes its time before a create."""

    name = "patient"
    phases = (HookPhase.BEFORE,)
    operations = (OperationKind.CREATE,)
    timeout_seconds = TIMEOUT_SECONDS

    def __init__(self, directory: Path, behaviour: str = "sleep") -> None:
        self._attempts = directory / "attempts"
        self._behaviour = behaviour

    @property
    def keys(self) -> list[str]:
        """The idempotency key of each attempt."""
        return self._attempts.read_text().splitlines() if self._attempts.exists() else []

    def run(self, event: HookEvent) -> None:
        """Note the attempt; then sleep, hang or fail."""
        with self._attempts.open("a") as file:
            file.write(f"{event.idempotency_key}\n")
        match self._behaviour:
            case "sleep":
                time.sleep(0.75 * TIMEOUT_SECONDS)
            case "hang":
                time.sleep(5 * TIMEOUT_SECONDS)
            case "be away":
                raise CloudUnavailableError("The chat is down.")
            case _:
                raise ValueError(self._behaviour)


async def main(address: str, queue: str, directory: str) -> None:
    """Work until killed."""
    hasten()
    client = await temporal.connect_when_up(Settings(temporal_address=address))
    where = Path(directory)
    async with running_engine(client, where, queue=queue, hooks=(Patient(where),)):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
