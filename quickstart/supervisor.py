"""Starts the product's processes, notices when one ends, and stops them all."""

import asyncio
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from devcloud.process import Recorded, stop
from quickstart.errors import QuickstartError
from quickstart.layout import Layout
from quickstart.words import last_words

START_SECONDS = 120.0
LOOK_SECONDS = 0.1
WATCH_SECONDS = 0.5
ANSWER_SECONDS = 5.0


@dataclass(frozen=True)
class Program:
    """A process of the product.

    Attributes:
        name: Names its log and its record.
        title: What people call it.
        command: Program and arguments.
        environment: All of its environment.
        ready: Tells whether it does its work.
    """

    name: str
    title: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    ready: Callable[[], Awaitable[bool]]


class Supervisor:
    """The processes that this quickstart started.

    Args:
        layout: Where their logs and records are.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._running: dict[str, tuple[Program, Recorded]] = {}

    def stop_left_over(self) -> list[str]:
        """Stop what an earlier quickstart left behind when it was killed; return the names."""
        records = sorted(self._layout.run.glob("*.json"))
        left = [process for record in records if (process := Recorded.load(record))]
        stop(left)
        return [process.record.stem for process in left]

    async def start(self, program: Program) -> None:
        """Start a program and wait until it does its work.

        Raises:
            QuickstartError: It ended, or does not answer.
        """
        log = self._layout.log(program.name)
        if log.exists():
            log.replace(log.with_suffix(".log.old"))
        record = self._layout.record(program.name)
        process = Recorded.spawn(record, program.command, program.environment, log)
        self._running[program.name] = (program, process)
        deadline = time.monotonic() + START_SECONDS
        while not await program.ready():
            self._require_alive(program, process)
            if time.monotonic() > deadline:
                raise QuickstartError(
                    f"{program.title} does not answer after {START_SECONDS:.0f} s: "
                    f"{self._words(program)}",
                )
            await asyncio.sleep(LOOK_SECONDS)

    async def watch(self) -> None:
        """Return never; raise when a process has ended.

        Raises:
            QuickstartError: It says which, and its last words.
        """
        while True:
            for program, process in list(self._running.values()):
                self._require_alive(program, process)
            await asyncio.sleep(WATCH_SECONDS)

    def stop(self) -> None:
        """Stop all, the last started first; those that do not listen are killed."""
        processes = [process for _, process in reversed(self._running.values())]
        self._running.clear()
        stop(processes)

    def _require_alive(self, program: Program, process: Recorded) -> None:
        if not process.alive():
            raise QuickstartError(
                f"{program.title} has ended; its last words: {self._words(program)}",
                "Run 'make quickstart' again: it goes on with what is there.",
            )

    def _words(self, program: Program) -> str:
        log = self._layout.log(program.name)
        return f"{last_words(log)} (log: {log})"


async def answers(url: str) -> bool:
    """Tell whether an HTTP server answers, with whatever but a server's error."""
    return await asyncio.to_thread(_answers, url)


def _answers(url: str) -> bool:
    # Everything is on loopback, where no proxy has a say.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with suppress(OSError, ValueError):
        try:
            with opener.open(url, timeout=ANSWER_SECONDS):
                return True
        except urllib.error.HTTPError as error:
            return error.code < 500  # noqa: PLR2004 - HTTP's own border
    return False
