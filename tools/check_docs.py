"""Runs the commands of the tutorial against a running quickstart, and compares what they print.

Usage: ``python -m tools.check_docs [--name NAME] [--port-base N]``

Every ``console`` block is run, in order, in one shell. A line with ``$`` is a command; it has to
succeed. What follows is what it prints, where ``...`` stands for anything.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from threading import Timer
from types import TracebackType
from typing import Self

from quickstart.layout import CHECKOUT, DEFAULT_PORT_BASE, Layout

PAGE = CHECKOUT / "docs" / "tutorial.md"
COMMAND_SECONDS = 240.0
END = "--- end of the command, exit code"

_BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
_ENDED = re.compile(rf"{re.escape(END)} (\d+)")
_OTHERS = ("OS_", "JEROBOAM_", "TEMPORAL_", "PYTHON")


@dataclass(frozen=True)
class Example:
    """A command and what the page says that it prints."""

    command: str
    expected: str


def examples(page: str) -> Iterator[Example]:
    """Return the commands of a page, in order."""
    for block in _BLOCK.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            length = 1
            while lines[length - 1].endswith("\\"):
                length += 1
            command = "\n".join(line.removeprefix("> ") for line in lines[:length])
            yield Example(command, "\n".join(lines[length:]).strip())


def fitted(command: str, layout: Layout) -> str:
    """Return a command for another quickstart than the usual one."""
    command = command.replace("/.devcloud/", f"/{layout.cloud_home.name}/")
    command = re.sub(r"(?<=\s)\.jeroboam/", f"{layout.home.name}/", command)
    shift = layout.port_base - DEFAULT_PORT_BASE
    return re.sub(r"(?<=127\.0\.0\.1:)(15\d{3})", lambda found: str(int(found[1]) + shift), command)


def matches(expected: str, printed: str) -> bool:
    """Tell whether a command printed what the page says; the width of gaps does not matter."""
    pattern = ".*".join(r"\s+".join(map(re.escape, part.split())) for part in expected.split("..."))
    joined = re.sub(r"(?<=\S)\.\*", r"\\s*.*", pattern)
    return re.fullmatch(rf"\s*{joined}\s*", printed, re.DOTALL) is not None


class Shell:
    """One shell, so that what a command exports holds for the next.

    Args:
        environment: What the shell starts with.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            ["/bin/bash", "--norc", "--noprofile"],
            cwd=CHECKOUT,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        """Use it for a while."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End it."""
        self._kill()
        self._process.communicate()

    def _kill(self) -> None:
        """End the shell and the command that it runs, which holds the pipe too."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)

    def run(self, command: str) -> tuple[int, str]:
        """Return a command's exit code and all that it printed."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("The shell has no pipes.")
        patience = Timer(COMMAND_SECONDS, self._kill)
        patience.start()
        try:
            self._process.stdin.write(f'{command} </dev/null\necho "{END} $?"\n')
            self._process.stdin.flush()
            printed: list[str] = []
            for line in self._process.stdout:
                ended = _ENDED.search(line)
                if ended:
                    return int(ended[1]), "".join(printed)
                printed.append(line)
        finally:
            patience.cancel()
        return 1, "".join(printed) + f"(no end within {COMMAND_SECONDS:.0f} s)"


def check(page: str, layout: Layout) -> list[str]:
    """Run the commands in a page's text and return what is wrong with it."""
    base = {key: value for key, value in os.environ.items() if not key.startswith(_OTHERS)}
    environment = base | {"DEVCLOUD_HOME": str(layout.cloud_home), "COLUMNS": "200"}
    wrong = []
    with Shell(environment) as shell:
        for example in examples(page):
            started = time.monotonic()
            code, printed = shell.run(fitted(example.command, layout))
            fine = code == 0 and matches(example.expected, printed)
            verdict = "ok" if fine else "WRONG"
            took = time.monotonic() - started
            sys.stdout.write(f"{verdict:6} {took:5.1f} s  {example.command}\n")
            sys.stdout.flush()
            if not fine:
                wrong.append(f"$ {example.command}\n{printed}\n(exit code {code})")
    return wrong


def main() -> int:
    """Check the tutorial and return the exit code."""
    parser = argparse.ArgumentParser(description="Run the commands of the tutorial.")
    parser.add_argument("--name", default="", help="which quickstart")
    parser.add_argument("--port-base", type=int, default=DEFAULT_PORT_BASE)
    given = parser.parse_args()
    wrong = check(PAGE.read_text(encoding="utf-8"), Layout(given.name, given.port_base))
    for complaint in wrong:
        sys.stdout.write(f"\nThe page says otherwise:\n{complaint}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
