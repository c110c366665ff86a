"""The quickstart's life: start, show, stay, stop."""

import asyncio
import errno
import os
import signal
import time
from collections.abc import Sequence
from contextlib import ExitStack

from rich.console import Console

from quickstart import summary
from quickstart.board import Board
from quickstart.cloud import QuickstartCloud
from quickstart.concurrency import guarded
from quickstart.display import showing
from quickstart.errors import QuickstartError
from quickstart.instance import held
from quickstart.journey import Journey
from quickstart.options import Options, parse
from quickstart.supervisor import Supervisor
from quickstart.tenant import avoid_proxies

EXIT_FAILURE = 1
EXIT_INTERRUPTED = 130
STARTED = "JEROBOAM_QUICKSTART_STARTED"
"""When the bootstrap began; its time counts for the user, so it counts here."""


class Interrupted(Exception):  # noqa: N818 - nothing is wrong
    """Somebody pressed Ctrl-C, or the system asks us to go."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the quickstart and return the exit code."""
    options = parse(arguments)
    console = Console(highlight=False)
    avoid_proxies()
    try:
        with held(options.layout):
            return asyncio.run(_live(options, console))
    except QuickstartError as error:
        return _complain(console, error.cause, error.remedy)
    except OSError as error:
        return _complain(console, *_explained(error))


async def _live(options: Options, console: Console) -> int:
    supervisor = Supervisor(options.layout)
    cloud = QuickstartCloud(options.layout)
    left_over = supervisor.stop_left_over()
    if left_over:
        console.print(f"Stopped what an earlier quickstart had left: {', '.join(left_over)}.")
    board = Board(started=float(os.environ.get(STARTED) or time.time()))
    journey = Journey(options, board, supervisor, cloud)
    journey.require_ports()
    interruption = _interruption()
    try:
        with showing(board, console):
            guards = (supervisor.watch(), _until(interruption))
            outcome = await guarded(journey.travel(), *guards)
        console.print(summary.of(outcome, options.layout, board.elapsed), soft_wrap=True)
        if not options.once:
            console.print("\nEverything stays up until Ctrl-C.")
            await guarded(_stay(interruption), supervisor.watch(), cloud.watch())
    except Interrupted:
        console.print("Interrupted.")
        return EXIT_INTERRUPTED
    finally:
        console.print("Stopping what this quickstart started ...")
        # Shielded by being synchronous: a second Ctrl-C waits until everything is stopped.
        with ExitStack() as stack:
            stack.callback(cloud.stop)
            stack.callback(supervisor.stop)
        console.print("Everything is stopped. The next run goes on with what is there.")
    return 0 if outcome.complete else EXIT_FAILURE


def _interruption() -> asyncio.Event:
    """Return an event that is set by Ctrl-C, a termination, or a closed terminal."""
    event = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, event.set)
    return event


async def _until(interruption: asyncio.Event) -> None:
    await interruption.wait()
    raise Interrupted


async def _stay(interruption: asyncio.Event) -> None:
    await interruption.wait()


def _complain(console: Console, cause: str, remedy: str) -> int:
    console.print(f"quickstart: {cause}", style="red", markup=False, soft_wrap=True)
    if remedy:
        console.print(f"quickstart: {remedy}", markup=False, soft_wrap=True)
    return EXIT_FAILURE


def _explained(error: OSError) -> tuple[str, str]:
    if error.errno == errno.ENOSPC:
        return "The disk is full.", "Free about 1 GB and run the command again."
    place = f": {error.filename}" if error.filename else ""
    return f"{error.strerror or error}{place}", ""
