"""``make clean`` stops what is ours and removes what the verbs made."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from devcloud.process import start_ticks
from quickstart.layout import CHECKOUT

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for package in ("quickstart", "devcloud"):
        shutil.copytree(CHECKOUT / package, tmp_path / package)
    return tmp_path


def clean(checkout: Path) -> str:
    # -S: nothing that is installed can be imported.
    done = subprocess.run(
        [sys.executable, "-S", "-m", "quickstart.clean"],
        cwd=checkout,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def remember(record: Path, process: "subprocess.Popen[bytes]") -> None:
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps({"pid": process.pid, "ticks": start_ticks(process.pid)}))


def test_nothing_to_clean(checkout: Path) -> None:
    """In a fresh checkout there is nothing to do, and that is no error."""
    assert clean(checkout) == ""


def test_everything_is_removed(checkout: Path) -> None:
    """All that the verbs made goes, whichever quickstart made it; sources stay."""
    made = [".venv/bin", ".jeroboam/log", ".jeroboam-two", ".devcloud/venv", ".jeroboam-boot"]
    for name in made:
        (checkout / name).mkdir(parents=True)
    clean(checkout)
    assert {path.name for path in checkout.iterdir()} == {"quickstart", "devcloud"}
    assert (checkout / "quickstart" / "clean.py").exists()


def test_what_runs_is_stopped(checkout: Path) -> None:
    """A quickstart and what a killed one left are stopped first; other processes live on."""
    processes = [subprocess.Popen(SLEEP) for _ in range(3)]
    quickstart, left, stranger = processes
    try:
        remember(checkout / ".jeroboam" / "quickstart.json", quickstart)
        remember(checkout / ".jeroboam" / "run" / "api.json", left)
        assert "stopping the quickstart" in clean(checkout)
        assert quickstart.wait(5) != 0
        assert left.wait(5) != 0
        assert stranger.poll() is None
        assert not (checkout / ".jeroboam").exists()
    finally:
        for process in processes:
            process.kill()
            process.wait()
