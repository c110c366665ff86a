"""Processes are only touched if they are the ones that were started."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from devcloud import process
from devcloud.process import Recorded

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
STUBBORN = [
    sys.executable,
    "-c",
    """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('ready', flush=True)
time.sleep(60)
""",
]


def spawn(folder: Path, command: list[str]) -> Recorded:
    return Recorded.spawn(folder / "it.json", command, os.environ, folder / "it.out")


def test_a_record_finds_its_process_again(tmp_path: Path) -> None:
    """Another command, started later, knows what runs."""
    started = spawn(tmp_path, SLEEP)
    assert Recorded.load(tmp_path / "it.json") == started
    process.stop([started])
    assert not started.alive()
    assert Recorded.load(tmp_path / "it.json") is None
    assert not (tmp_path / "it.json").exists()


def test_a_number_that_was_given_to_somebody_else_is_left_alone(tmp_path: Path) -> None:
    """The start time tells the processes apart."""
    with subprocess.Popen(SLEEP) as stranger:
        try:
            ticks = process.start_ticks(stranger.pid)
            assert ticks is not None
            record = tmp_path / "it.json"
            record.write_text(json.dumps({"pid": stranger.pid, "ticks": ticks - 1}))
            assert Recorded.load(record) is None
            process.stop([Recorded(record, stranger.pid, ticks - 1)])
            assert process.start_ticks(stranger.pid) == ticks
        finally:
            stranger.kill()


def test_who_does_not_listen_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while SIGTERM is followed by SIGKILL."""
    monkeypatch.setattr(process, "TERMINATE_SECONDS", 0.3)
    started = spawn(tmp_path, STUBBORN)
    while "ready" not in (tmp_path / "it.out").read_text():
        time.sleep(0.05)
    started.signal(signal.SIGTERM)
    assert started.alive()
    process.stop([started])
    assert not started.alive()


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"pid": "x", "ticks": 1}'])
def test_a_damaged_record_means_no_process(tmp_path: Path, content: str) -> None:
    """A file that was cut off does no harm."""
    record = tmp_path / "it.json"
    record.write_text(content)
    assert Recorded.load(record) is None
