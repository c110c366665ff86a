"""Shells complete commands and options."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

JEROBOAM = Path(sys.executable).with_name("jeroboam")


def asked(words: str, shell: str) -> str:
    """Return what a shell is told that asks for the last word."""
    place = len(words.split(" ")) - 1
    environment = {
        "bash": {"COMP_WORDS": words, "COMP_CWORD": str(place)},
        "zsh": {"_TYPER_COMPLETE_ARGS": words},
        "fish": {"_TYPER_COMPLETE_ARGS": words, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    done = subprocess.run(
        [str(JEROBOAM)],
        env={**os.environ, **environment, "_JEROBOAM_COMPLETE": f"complete_{shell}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_and_options(shell: str) -> None:
    """A group, a command in it, and an option of that are completed."""
    assert "policy" in asked("jeroboam pol", shell)
    assert "watch" in asked("jeroboam operation wat", shell)
    assert "--node-group" in asked("jeroboam cluster rebuild --node-g", shell)
    assert "policy" not in asked("jeroboam clus", shell)
