"""One quickstart at a time in one home, and who that is."""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path

from devcloud.layout import write_private
from devcloud.process import Recorded, start_ticks
from quickstart.errors import QuickstartError
from quickstart.layout import Layout


@contextlib.contextmanager
def held(layout: Layout) -> Iterator[None]:
    """Hold the home for this process; the kernel lets go of it however the process ends.

    Raises:
        QuickstartError: Another quickstart holds it.
    """
    # Keys will lie in it; one that is there already may have been made with another mode.
    layout.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    layout.home.chmod(0o700)
    layout.run.mkdir(exist_ok=True)
    with (layout.home / "quickstart.lock").open("w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise QuickstartError(
                f"A quickstart is running here already{_process(holder(layout))}.",
                "Stop it with Ctrl-C or 'make clean', or run another one beside it: "
                'make quickstart ARGS="--name second --port-base 16000".',
            ) from None
        record = _record(layout)
        known = {"pid": os.getpid(), "ticks": start_ticks(os.getpid())}
        write_private(record, json.dumps(known) + "\n")
        try:
            yield
        finally:
            record.unlink(missing_ok=True)


def holder(layout: Layout) -> Recorded | None:
    """Return the process of the quickstart that runs in a home, if one does."""
    return Recorded.load(_record(layout))


def _record(layout: Layout) -> Path:
    return layout.home / "quickstart.json"


def _process(recorded: Recorded | None) -> str:
    return f" (process {recorded.pid})" if recorded else ""
