"""A quickstart as its user runs it: a process, with a pipe where the terminal would be."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from devcloud.process import start_ticks
from quickstart.layout import CHECKOUT, Layout

STOP_SECONDS = 60.0


def start(layout: Layout, *arguments: str) -> "Running":
    """Start a quickstart; it is told apart from the user's own by name and ports."""
    command = [
        *(sys.executable, "-m", "quickstart", "--name", layout.name),
        *("--port-base", str(layout.port_base), *arguments),
    ]
    process = subprocess.Popen(
        command,
        cwd=CHECKOUT,
        env={k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    return Running(process)


@dataclass
class Running:
    """A quickstart's process, and what it has printed so far."""

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def output(self) -> str:
        return "\n".join(self.lines)

    def wait_for(self, text: str, seconds: float) -> None:
        """Wait until a line holds the text; fail with all output when the process ends first."""
        deadline = time.monotonic() + seconds
        while not any(text in line for line in self.lines):
            ended = self.process.poll() is not None and not self._reader.is_alive()
            assert not ended, f"it ended without saying {text!r}:\n{self.output}"
            assert time.monotonic() < deadline, f"no {text!r} in {seconds} s:\n{self.output}"
            time.sleep(0.1)

    def wait(self, seconds: float = STOP_SECONDS) -> int:
        code = self.process.wait(seconds)
        self._reader.join(seconds)
        return code

    def interrupt(self, seconds: float = STOP_SECONDS) -> int:
        """Press Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        return self.wait(seconds)

    def kill(self) -> None:
        self.process.kill()
        self.wait()

    def _read(self) -> None:
        assert self.process.stdout
        with self.process.stdout as stream:
            for line in stream:
                self.lines.append(line.rstrip("\n"))


def processes_of(*homes: Path) -> dict[int, str]:
    """Return the living processes whose command line or environment names one of the folders."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
            said = command + (entry / "environ").read_bytes()
        except OSError:
            continue
        if any(f"{home}".encode() in said for home in homes) and start_ticks(int(entry.name)):
            found[int(entry.name)] = command.replace(b"\0", b" ").decode(errors="replace")
    return found
