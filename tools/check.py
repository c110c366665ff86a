"""Runs all linters, shows one line for each, and the output of those that complain."""

import os
import subprocess
import sys
import time
from pathlib import Path

from tools.environment import CHECKOUT, VENV

TYPED = ("jeroboam", "devcloud", "quickstart", "tools", "tests", "benchmarks")


def scripts() -> list[str]:
    """Return the shell scripts of the checkout: those that say so in their first line."""
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [name for name in tracked if _is_script(CHECKOUT / name)]


def _is_script(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            first = stream.readline(80)
    except OSError:
        return False
    return first.startswith(b"#!") and first.split()[-1].endswith((b"/bash", b"/sh", b"bash"))


def commands() -> list[list[str]]:
    """Return what to run; each program comes from the environment."""
    return [
        ["ruff", "check", "--quiet"],
        ["ruff", "format", "--check", "--quiet"],
        # What runs inside the devcloud's environment imports what only that one holds.
        ["mypy", "--no-error-summary", "--exclude", "^devcloud/inside/", *TYPED],
        ["lint-imports"],
        # Scripts of nodes source a library from where it is on a node.
        ["shellcheck", "--exclude=SC1091", *scripts()],
    ]


def main() -> int:
    """Run all of them, also after a failure."""
    return max(_run(command) for command in commands())


def _run(command: list[str]) -> int:
    started = time.monotonic()
    done = subprocess.run(  # noqa: S603 - the list is above
        [str(VENV / "bin" / command[0]), *command[1:]],
        cwd=CHECKOUT,
        # mypy finds the packages of the checkout through its working folder.
        env=os.environ | {"PATH": f"{VENV / 'bin'}:{os.environ.get('PATH', os.defpath)}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    verdict = "failed" if done.returncode else "ok"
    title = " ".join(command[:2])
    sys.stdout.write(f"{title:24} {verdict:7} {time.monotonic() - started:5.1f} s\n")
    if done.returncode:
        sys.stdout.write(done.stdout)
    sys.stdout.flush()
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
