"""Progress lines: what is being done, and how long it has taken so far."""

import sys
import time
from collections.abc import Callable

Report = Callable[[str], None]


class Progress:
    """Prints a line with the elapsed time for each step."""

    def __init__(self, write: Report | None = None) -> None:
        """Start the clock.

        Args:
            write: Where the lines go; the standard error stream by default.
        """
        self._write = write or self._to_stderr
        self._started = time.monotonic()

    @staticmethod
    def _to_stderr(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    @property
    def elapsed(self) -> float:
        """Seconds since the clock was started."""
        return time.monotonic() - self._started

    def __call__(self, step: str) -> None:
        """Report one step."""
        self._write(f"[{self.elapsed:6.1f} s] {step}")
