"""Processes are started, watched and stopped; those of others are left alone."""

import asyncio
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from devcloud.process import Recorded, start_ticks
from quickstart.errors import QuickstartError
from quickstart.layout import Layout
from quickstart.ports import require_free
from quickstart.supervisor import Program, Supervisor, answers
from tests.conftest import free_port

SLEEP = "import time; time.sleep(60)"


@dataclass(frozen=True)
class TemporaryLayout(Layout):
    """A layout outside of the checkout."""

    directory: Path = Path()

    @property
    def home(self) -> Path:
        return self.directory


@pytest.fixture
def layout(tmp_path: Path) -> TemporaryLayout:
    for name in ("run", "log"):
        (tmp_path / name).mkdir()
    return TemporaryLayout(directory=tmp_path)


def program(code: str, *, ready: bool = True, name: str = "sleeper") -> Program:
    async def is_ready() -> bool:
        await asyncio.sleep(0)
        return ready

    return Program(name, "The sleeper", (sys.executable, "-c", code), os.environ, is_ready)


def pid_of(layout: TemporaryLayout, name: str = "sleeper") -> int:
    recorded = Recorded.load(layout.record(name))
    assert recorded
    return recorded.pid


async def test_start_and_stop(layout: TemporaryLayout) -> None:
    """A started process runs until it is stopped, and its record goes with it."""
    supervisor = Supervisor(layout)
    await supervisor.start(program(SLEEP))
    pid = pid_of(layout)
    assert start_ticks(pid)
    supervisor.stop()
    assert start_ticks(pid) is None
    assert not layout.record("sleeper").exists()


async def test_a_program_that_fails_to_start(layout: TemporaryLayout) -> None:
    """Who ends before it is ready is named, with its last words and its log."""
    code = "import sys; sys.stderr.write('jeroboam: The disk is full.\\n'); sys.exit(1)"
    with pytest.raises(QuickstartError) as raised:
        await Supervisor(layout).start(program(code, ready=False))
    assert (
        "The sleeper has ended; its last words: jeroboam: The disk is full." in raised.value.cause
    )
    assert str(layout.log("sleeper")) in raised.value.cause


async def test_a_program_that_is_never_ready(
    layout: TemporaryLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who gives no answer in time is named as well."""
    monkeypatch.setattr("quickstart.supervisor.START_SECONDS", 0.3)
    supervisor = Supervisor(layout)
    with pytest.raises(QuickstartError, match="does not answer"):
        await supervisor.start(program(SLEEP, ready=False))
    supervisor.stop()


async def test_a_death_is_noticed(layout: TemporaryLayout) -> None:
    """A process which dies later is noticed within a second or so."""
    supervisor = Supervisor(layout)
    await supervisor.start(program(SLEEP))
    watching = asyncio.create_task(supervisor.watch())
    await asyncio.sleep(0.1)
    os.kill(pid_of(layout), 9)
    with pytest.raises(QuickstartError, match="The sleeper has ended"):
        await asyncio.wait_for(watching, 5)


async def test_left_over_processes_are_stopped(layout: TemporaryLayout) -> None:
    """What a killed quickstart left running is found by its record and stopped."""
    await Supervisor(layout).start(program(SLEEP))
    pid = pid_of(layout)
    assert Supervisor(layout).stop_left_over() == ["sleeper"]
    assert start_ticks(pid) is None
    assert Supervisor(layout).stop_left_over() == []


def test_a_recycled_number_is_left_alone(layout: TemporaryLayout) -> None:
    """A process that got the number of one of ours, but started at another time, lives on."""
    with subprocess.Popen([sys.executable, "-c", SLEEP]) as stranger:
        record = {"pid": stranger.pid, "ticks": (start_ticks(stranger.pid) or 0) - 1}
        layout.record("api").write_text(str(record).replace("'", '"'))
        assert Supervisor(layout).stop_left_over() == []
        time.sleep(0.1)
        assert stranger.poll() is None
        stranger.kill()


async def test_logs_begin_anew(layout: TemporaryLayout) -> None:
    """A log holds one run; the one before is kept beside it."""
    for text in ("first", "second"):
        supervisor = Supervisor(layout)
        await supervisor.start(program(f"print('{text}', flush=True); {SLEEP}"))
        await asyncio.sleep(0.3)
        supervisor.stop()
    assert layout.log("sleeper").read_text() == "second\n"
    assert layout.log("sleeper").with_suffix(".log.old").read_text() == "first\n"


def test_a_taken_port_is_named() -> None:
    """A port that somebody listens on is refused by number, with the way to choose others."""
    port = free_port()
    with subprocess.Popen(
        [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        deadline = time.monotonic() + 10
        while not asyncio.run(answers(f"http://127.0.0.1:{port}")):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        with pytest.raises(QuickstartError) as raised:
            require_free([(port, "Jeroboam's API")])
        server.kill()
    assert f"Port {port}, which Jeroboam's API needs, is taken" in raised.value.cause
    assert "--port-base" in raised.value.remedy
    require_free([(free_port(), "nobody")])
