"""The workers and the API as processes that are forked, killed and forked again."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.acceptance.stack import answers
from tests.conftest import CHECKOUT

START_SECONDS = 120.0


@dataclass
class Zygote:
    """The process that forks the others.

    Args:
        log: For its own complaints.
    """

    log: Path
    _process: subprocess.Popen[str] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> None:
        """Start it; it begins to import at once."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.chaos.zygote"],
                cwd=CHECKOUT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def fork(self, kind: str, environment: Mapping[str, str], log: Path) -> int:
        """Return the pid of a new process."""
        asked = {"kind": kind, "environment": dict(environment), "log": str(log)}
        assert self._process
        to, back = self._process.stdin, self._process.stdout
        assert to
        assert back
        with self._lock:
            to.write(json.dumps(asked) + "\n")
            to.flush()
            answer = back.readline()
        assert answer, self.log.read_text()
        return int(answer)

    def stop(self) -> None:
        """End it, and all that it has forked."""
        if self._process and self._process.stdin and self._process.stdout:
            self._process.stdin.close()
            self._process.wait(10)
            self._process.stdout.close()


@dataclass
class Forked:
    """One process of the product, with its log.

    Args:
        kind: ``api`` or ``worker``.
    """

    zygote: Zygote
    kind: str
    environment: Mapping[str, str]
    log: Path
    ready_url: str
    pid: int | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.pid = self.zygote.fork(self.kind, self.environment, self.log)
        deadline = time.monotonic() + START_SECONDS
        while not answers(self.ready_url):
            if self.is_dead:
                # Killed again by a rule, before it was up.
                return
            assert time.monotonic() < deadline, f"does not come up: {self.log}"
            time.sleep(0.05)

    def kill(self) -> None:
        """Let it crash."""
        if self.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
                while not self.is_dead:
                    time.sleep(0.01)

    @property
    def is_dead(self) -> bool:
        """Whether it was started and is no longer there."""
        if self.pid is None:
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        return False
