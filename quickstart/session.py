"""The quickstart's life: start, show, stay, stop."""

import asyncio
import os
import signal
import time
from contextlib import ExitStack

from rich.console import Console

from quickstart import summary
from quickstart.board import Board
from quickstart.cloud import QuickstartCloud
from quickstart.concurrency import guarded
from quickstart.display import showing
from quickstart.journey import Journey
from quickstart.options import Options
from quickstart.supervisor import Supervisor
from quickstart.tenant import avoid_proxies

STARTED = "QUICKSTART_STARTED"
"""When the bootstrap began; its time counts for the user, so it counts here."""

EXIT_INTERRUPTED = 130


class Interrupted(Exception):  # noqa: N818 - nothing is wrong
    """Somebody pressed Ctrl-C, or the system asks us to go."""


class Session:
    """One run.

    Args:
        options: What is wanted.
        console: Where the user looks.
        supervisor: Runs the product's processes.
        cloud: Runs OpenStack.
    """

    def __init__(
        self,
        options: Options,
        console: Console,
        supervisor: Supervisor,
        cloud: QuickstartCloud,
    ) -> None:
        self._options = options
        self._console = console
        self._supervisor = supervisor
        self._cloud = cloud
        self._board = Board(started=float(os.environ.get(STARTED) or time.time()))
        self._stopping = asyncio.Event()

    async def run(self) -> int:
        """Go all the way, stay if that is wanted, and stop everything; return the exit code.

        Raises:
            QuickstartError: Something is in the way, or a process ended.
        """
        avoid_proxies()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._stopping.set)
        try:
            return await self._show_and_stay()
        except Interrupted:
            self._console.print("Interrupted.")
            return EXIT_INTERRUPTED
        finally:
            self._stop()

    async def _show_and_stay(self) -> int:
        journey = Journey(self._options, self._board, self._supervisor, self._cloud)
        with showing(self._board, self._console):
            guards = (self._supervisor.watch(), self._interruption())
            outcome = await guarded(journey.travel(), *guards)
        said = summary.of(outcome, self._options.layout, self._board.elapsed)
        self._console.print(said, soft_wrap=True)
        if not self._options.once:
            self._console.print("\nEverything stays up until Ctrl-C.")
            guards = (self._supervisor.watch(), self._cloud.watch())
            await guarded(self._stopping.wait(), *guards)
        return 0 if outcome.complete else 1

    async def _interruption(self) -> None:
        await self._stopping.wait()
        raise Interrupted

    def _stop(self) -> None:
        """Stop what was started; a second Ctrl-C waits, because nothing else runs meanwhile."""
        self._console.print("Stopping what this quickstart started ...")
        with ExitStack() as stack:
            stack.callback(self._cloud.stop)
            stack.callback(self._supervisor.stop)
        self._console.print("Everything is stopped. The next run goes on with what is there.")
