"""The command line: what it prints, and how it fails."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from devcloud import Devcloud
from devcloud.state import Ready
from tests.conftest import free_port_base

from .conftest import VENV


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "devcloud", *arguments]


def devcloud(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {key: v for key, v in os.environ.items() if not key.startswith("DEVCLOUD_")}
    done = subprocess.run(
        command(*arguments, "--home", str(home), "--venv", str(VENV)),
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=120,
    )
    assert "Traceback" not in done.stderr
    return done


def processes_of(home: Path) -> list[int]:
    """Return all processes that serve a home, whether recorded or not."""
    mark = f"DEVCLOUD_HOME={home}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize(
    "arguments",
    [
        ("begin",),
        ("start", "--set", "huge"),
        ("start", "--port-base", "80"),
        ("start", "--port-base", "65500"),
        ("env", "--cloud", "nobody"),
        ("stop", "--kill"),
        ("stop", "cinder"),
        ("restore", "never-made"),
        ("snapshot", "../outside"),
        ("fault", "add", "server", "--delay", "-1"),
        ("fault", "add", "api", "--service", "heat", "--status", "200"),
        ("fault", "add", "api", "--service", "heat", "--drop", "--path", "("),
        ("fault", "clear", "unknown"),
    ],
)
def test_wrong_usage_is_exit_code_2(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Nothing is done, and the message says what is wrong."""
    done = devcloud(tmp_path, *arguments)
    assert done.returncode == 2, done.stderr
    assert "devcloud" in done.stderr


def test_status_of_nothing_is_exit_code_1(tmp_path: Path) -> None:
    """Scripts can ask whether the cloud is up."""
    done = devcloud(tmp_path, "status")
    assert done.returncode == 1
    assert done.stdout.count("stopped") == 6


def test_stop_and_destroy_of_nothing_are_fine(tmp_path: Path) -> None:
    """What is to be is already so."""
    assert devcloud(tmp_path / "home", "stop").returncode == 0
    assert devcloud(tmp_path / "home", "destroy").returncode == 0


def test_destroy_leaves_other_peoples_folders_alone(tmp_path: Path) -> None:
    """A folder that is no home of a devcloud is not deleted."""
    (tmp_path / "thesis.tex").touch()
    done = devcloud(tmp_path, "destroy")
    assert done.returncode == 2
    assert (tmp_path / "thesis.tex").exists()


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    """The message has port, service and remedy, and nothing was started."""
    base = free_port_base()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", base + 4))
        taken.listen()
        done = devcloud(tmp_path, "start", "--set", "quick", "--port-base", str(base))
    assert done.returncode == 1
    assert f"Port {base + 4}, which heat needs, is taken" in done.stderr
    assert "--port-base" in done.stderr
    assert processes_of(tmp_path) == []


def test_a_service_that_dies_leaves_its_last_words(tmp_path: Path) -> None:
    """Cause and log file are in the message, and the other services are stopped."""
    state = tmp_path / "state"
    for service in ("keystone", "glance", "heat"):
        (state / "prepared").mkdir(parents=True, exist_ok=True)
        (state / "prepared" / service).touch()
        (state / f"{service}.sqlite").write_text("This is no database." * 100)
    base = free_port_base()
    Ready(str(tmp_path), base, ("keystone", "glance", "heat")).save(state)
    done = devcloud(tmp_path, "start", "--set", "quick", "--port-base", str(base))
    assert done.returncode == 1
    assert "ended while it was starting" in done.stderr
    assert "not a database" in done.stderr or "does not exist" in done.stderr
    assert str(tmp_path / "logs") in done.stderr
    assert processes_of(tmp_path) == []


@contextmanager
def interruptible() -> Iterator[None]:
    """Let programs hear Ctrl-C; a shell takes it from all that it starts in the background."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def test_an_interrupted_start_leaves_nothing(tmp_path: Path) -> None:
    """Ctrl-C stops what was started, and the next start does not trip over the rest."""
    home = ("--home", str(tmp_path), "--venv", str(VENV))
    arguments = ("start", "--set", "quick", "--port-base", str(free_port_base()), *home)
    with (
        interruptible(),
        subprocess.Popen(command(*arguments), stderr=subprocess.PIPE, text=True) as starting,
    ):
        while not processes_of(tmp_path):
            time.sleep(0.05)
        starting.send_signal(signal.SIGINT)
        _, said = starting.communicate(timeout=30)
    assert starting.returncode == 130
    assert "Interrupted" in said
    assert "Traceback" not in said
    assert processes_of(tmp_path) == []


def test_an_older_python_is_refused() -> None:
    """A line of advice instead of a syntax error."""
    code = "import sys; sys.version_info = (3, 10, 0); import runpy; runpy.run_module('devcloud')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("devcloud: This Python is too old.")
    assert "Traceback" not in done.stderr


def test_faults_can_be_handled_by_hand(tmp_path: Path) -> None:
    """Add, list and clear, by the id that add prints."""
    add = ("fault", "add", "server", "--fail", "no more disks", "--name", "*-1", "--nth", "2")
    first = devcloud(tmp_path, *add).stdout.strip()
    api = ("fault", "add", "api", "--service", "heat", "--status", "502", "--for", "60")
    second = devcloud(tmp_path, *api).stdout.strip()
    listed = devcloud(tmp_path, "fault", "list").stdout.splitlines()
    assert [line.split()[0] for line in listed] == [first, second]
    assert "no more disks" in listed[0]
    assert "502" in listed[1]
    assert devcloud(tmp_path, "fault", "clear", first).returncode == 0
    assert len(Devcloud(tmp_path).faults.rules()) == 1
    assert devcloud(tmp_path, "fault", "clear").returncode == 0
    assert Devcloud(tmp_path).faults.rules() == []


def test_a_restored_state_is_as_it_was(quick_cloud: Devcloud) -> None:
    """What happened after the snapshot is undone; the services run again."""
    home = quick_cloud.layout.home
    assert devcloud(home, "snapshot", "before").returncode == 0
    key = quick_cloud.layout.state / "keys" / "made-later"
    key.touch()
    with sqlite3.connect(quick_cloud.layout.database("heat")) as connection:
        connection.execute("CREATE TABLE made_later (id INTEGER)")
    connection.close()
    done = devcloud(home, "restore", "before")
    assert done.returncode == 0, done.stderr
    assert not key.exists()
    with sqlite3.connect(quick_cloud.layout.database("heat")) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    connection.close()
    assert "stack" in tables
    assert "made_later" not in tables
    assert devcloud(home, "status").returncode == 0


def test_settings_of_a_running_cloud_cannot_change(quick_cloud: Devcloud) -> None:
    """Other ports or another set need a stop first."""
    done = devcloud(quick_cloud.layout.home, "start", "--set", "full")
    assert done.returncode == 2
    assert "Stop it first" in done.stderr
    assert all(one.answers for one in quick_cloud.status())


def test_stop_ends_only_its_own(quick_cloud: Devcloud, cloud: Devcloud) -> None:
    """The other devcloud on this machine goes on."""
    done = devcloud(quick_cloud.layout.home, "stop")
    assert done.stdout == "stopped heat, glance, keystone\n"
    assert processes_of(quick_cloud.layout.home) == []
    assert all(one.answers for one in cloud.status())
    quick_cloud.start()
    assert all(one.answers for one in quick_cloud.status())
