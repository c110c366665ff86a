"""Processes that devcloud started: spawn, recognise, stop.

A process is known by its number *and* the moment it started, so that a number which the
kernel has given to somebody else is never signalled.
"""

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from devcloud.layout import write_private

TERMINATE_SECONDS = 8.0
POLL_SECONDS = 0.05


def start_ticks(pid: int) -> int | None:
    """Return when a process started, in clock ticks since boot; None if it is gone.

    A process which has ended and waits to be collected by its parent counts as gone, but not
    while other threads of it still hold its files and ports.
    """
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The command name comes second, in brackets, and may itself hold spaces and brackets.
    fields = stat.rpartition(")")[2].split()
    if fields[0] in ("Z", "X") and not _has_threads(pid):
        return None
    return int(fields[19])


def _has_threads(pid: int) -> bool:
    try:
        return len(list(Path(f"/proc/{pid}/task").iterdir())) > 1
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class Recorded:
    """A process and the file which remembers it."""

    record: Path
    pid: int
    ticks: int

    @classmethod
    def load(cls, record: Path) -> "Recorded | None":
        """Return the process of a record if it still runs."""
        try:
            stored = json.loads(record.read_text(encoding="utf-8"))
            known = cls(record, int(stored["pid"]), int(stored["ticks"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return known if known.alive() else None

    @classmethod
    def spawn(
        cls, record: Path, command: Sequence[str], environment: Mapping[str, str], output: Path
    ) -> "Recorded":
        """Start a process in a session of its own and remember it.

        Args:
            record: File to write process number and start time to.
            command: Program and arguments.
            environment: All of its environment.
            output: File that its standard output and error are appended to.
        """
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("ab") as stream:
            child = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                env=dict(environment),
                start_new_session=True,
            )
        ticks = start_ticks(child.pid) or 0
        # The records outlive this object: without this, Python warns of a child still running.
        child.returncode = 0
        started = cls(record, child.pid, ticks)
        write_private(record, json.dumps({"pid": child.pid, "ticks": ticks}) + "\n")
        return started

    def alive(self) -> bool:
        """Tell whether this very process still runs."""
        return start_ticks(self.pid) == self.ticks

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, provided that the process is still the one that was started."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C and its like back for a moment, so that nothing is started unrecorded.

    Only the main thread is ever interrupted; elsewhere this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: arrived.append(number))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for late in arrived:
            signal.raise_signal(late)


def stop(processes: Iterable[Recorded], *, graceful: bool = True) -> None:
    """End processes: ask them all, wait, then insist.

    Args:
        processes: What to end.
        graceful: Ask first (SIGTERM); otherwise kill at once (SIGKILL).
    """
    pending = list(processes)
    for process in pending:
        process.signal(signal.SIGTERM if graceful else signal.SIGKILL)
    deadline = time.monotonic() + TERMINATE_SECONDS
    insisted = not graceful
    while pending:
        for process in [p for p in pending if not p.alive()]:
            process.record.unlink(missing_ok=True)
            pending.remove(process)
        if pending and not insisted and time.monotonic() > deadline:
            insisted = True
            for process in pending:
                process.signal(signal.SIGKILL)
        if pending:
            time.sleep(POLL_SECONDS)
