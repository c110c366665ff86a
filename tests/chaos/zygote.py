"""A process that has imported everything and forks workers and APIs: they start in no time.

It reads one JSON object a line (``kind``, ``environment``, ``log``) and answers with a pid. What it
forks outlives nothing: all of it ends when the harness closes the pipe.
"""

import ctypes
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping

from tests.chaos import api, worker

MAINS: Mapping[str, Callable[[], None]] = {"api": api.main, "worker": worker.main}

PARENT_DEATH_SIGNAL = 1
"""``PR_SET_PDEATHSIG``: what Linux sends when the parent is gone."""


def main() -> None:
    """Fork on demand until the pipe is closed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        asked = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become(asked["kind"], asked["environment"], asked["log"])
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


def _become(kind: str, environment: Mapping[str, str], log: str) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)
    os.environ.update(environment)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for descriptor in (sys.stdout.fileno(), sys.stderr.fileno()):
        os.dup2(output, descriptor)
    code = 1
    try:
        MAINS[kind]()
        code = 0
    except Exception:  # noqa: BLE001 - whatever it was belongs into the log
        traceback.print_exc()
    finally:
        # Nothing of the parent's may be flushed or closed by the child.
        os._exit(code)


if __name__ == "__main__":
    main()
