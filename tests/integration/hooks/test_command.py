"""Commands: real programs, without a shell, with a time limit, and their words in the record."""

import json
import os
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from jeroboam.errors import (
    CloudUnavailableError,
    ConfigurationError,
    DriverContractError,
    HookRejectedError,
)
from jeroboam.hooks.base import HookResult
from jeroboam.hooks.command import CommandHook
from jeroboam.models import HookPhase, HookSource
from jeroboam.models.hook import HookDeclaration
from tests.unit.hooks.hooks import CALLBACK, SECRET, an_event


def program(directory: Path, text: str) -> str:
    path = directory / "program"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def command(*argv: str, seconds: int = 10) -> CommandHook:
    return CommandHook(
        HookDeclaration(
            name="check",
            source=HookSource.COMMAND,
            argv=argv,
            phases=(HookPhase.BEFORE,),
            timeout_seconds=seconds,
        )
    )


def run(directory: Path, text: str, *, seconds: int = 10, **changes: Any) -> HookResult:
    return command(program(directory, text), seconds=seconds).run(an_event(**changes))


def test_event_comes_on_standard_input(tmp_path: Path) -> None:
    """The program reads the same document that a webhook gets, and its answer counts."""
    kept = tmp_path / "event.json"
    result = run(tmp_path, f'cat > {kept}; echo \'{{"labels": {{"a": "b"}}}}\'')
    assert result.labels == {"a": "b"}
    event = json.loads(kept.read_text())
    assert event["hook"] == "check"
    assert event["cluster"]["name"] == "demo"


def test_no_answer_is_yes(tmp_path: Path) -> None:
    """A program that says nothing and exits with 0 lets the operation go on."""
    assert run(tmp_path, "exit 0") == HookResult()


def test_input_need_not_be_read(tmp_path: Path) -> None:
    """A program that does not read its input is no problem, however long that is."""
    assert run(tmp_path, "exit 0", options={"long": "x" * 1_000_000}) == HookResult()


def test_veto(tmp_path: Path) -> None:
    """Another exit status refuses, with the last line of the error output as the reason."""
    with pytest.raises(HookRejectedError, match=r"'check' refuses: no budget$"):
        run(tmp_path, "echo noise >&2; echo no budget >&2; exit 3")
    with pytest.raises(HookRejectedError, match="exit status 3"):
        run(tmp_path, "exit 3")
    with pytest.raises(HookRejectedError, match="too large"):
        run(tmp_path, 'echo \'{"allow": false, "reason": "too large"}\'')


def test_killed_program(tmp_path: Path) -> None:
    """A program that dies of a signal has not allowed anything."""
    with pytest.raises(HookRejectedError, match="exit status -9"):
        run(tmp_path, "kill -9 $$")


def test_try_again(tmp_path: Path) -> None:
    """The exit status for a passing problem makes the engine try again."""
    with pytest.raises(CloudUnavailableError, match="asks to try again: busy"):
        run(tmp_path, "echo busy >&2; exit 75")


@pytest.mark.parametrize("answer", ["OK", "[]", '{"alow": true}'])
def test_garbage(tmp_path: Path, answer: str) -> None:
    """Output that is no answer is no permission."""
    with pytest.raises(DriverContractError, match="does not know"):
        run(tmp_path, f"echo '{answer}'")


def test_time_is_up_for_the_whole_group(tmp_path: Path) -> None:
    """A program that hangs is killed with all that it has started."""
    child = tmp_path / "child"
    with pytest.raises(CloudUnavailableError, match="did not end within 1 seconds"):
        run(tmp_path, f"sleep 60 & echo $! > {child}; wait", seconds=1)
    assert gone(int(child.read_text()))


def test_what_is_left_behind_is_killed(tmp_path: Path) -> None:
    """A child that outlives the program, and holds its output open, is no reason to wait."""
    child = tmp_path / "child"
    assert run(tmp_path, f"sleep 60 & echo $! > {child}; echo '{{}}'") == HookResult()
    assert gone(int(child.read_text()))


def gone(pid: int) -> bool:
    """Wait until a process is gone, or a zombie that its new parent has not noticed yet."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_endless_output(tmp_path: Path) -> None:
    """Output without an end fills no memory and is no answer."""
    with pytest.raises(DriverContractError, match="writes more than"):
        run(tmp_path, "head -c 10000000 /dev/zero")
    with pytest.raises(HookRejectedError, match="the end"):
        run(tmp_path, "head -c 10000000 /dev/zero >&2; echo >&2; echo the end >&2; exit 1")


def test_environment_is_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker's environment, which may hold passwords, is not handed on; the secret is."""
    monkeypatch.setenv("JEROBOAM_SECRETS_KEY", "tell-nobody")
    kept = tmp_path / "environment"
    run(tmp_path, f"env > {kept}")
    seen = dict(line.split("=", 1) for line in kept.read_text().splitlines())
    assert seen["JEROBOAM_HOOK_SECRET"] == SECRET
    assert seen["JEROBOAM_PHASE"] == "before"
    assert "tell-nobody" not in seen.values()
    assert set(seen) <= {
        "PATH", "LANG", "PWD", "OLDPWD", "SHLVL", "_", "JEROBOAM_HOOK_SECRET",
        "JEROBOAM_OPERATION", "JEROBOAM_PHASE", "JEROBOAM_CLUSTER",
    }  # fmt: skip


def test_no_shell(tmp_path: Path) -> None:
    """Arguments are handed over as they are; nothing expands them."""
    kept = tmp_path / "arguments"
    path = program(tmp_path, f'printf "%s|" "$@" > {kept}')
    command(path, "$(id)", "; rm -rf /", "*").run(an_event())
    assert kept.read_text() == "$(id)|; rm -rf /|*|"


def test_secrets_are_blotted_out(tmp_path: Path) -> None:
    """A program that prints its secret, or the callback's URL, does not get it into the record."""
    with pytest.raises(HookRejectedError) as caught:
        run(tmp_path, f'echo "$JEROBOAM_HOOK_SECRET {CALLBACK}" >&2; exit 1')
    assert caught.value.message == "Hook 'check' refuses: *** ***"
    result = run(tmp_path, 'printf \'{"reason": "%s"}\' "$JEROBOAM_HOOK_SECRET"')
    assert result.message == "***"


@pytest.mark.parametrize("path", ["/no/such/program", "/etc/passwd", "/tmp"])
def test_missing_program(path: str) -> None:
    """A program that cannot be started is the operator's to correct, and is not tried again."""
    with pytest.raises(ConfigurationError, match="'argv'"):
        command(path).run(an_event())
