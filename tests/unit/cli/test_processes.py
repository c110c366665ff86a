"""What an operator mistypes is one line that names the setting, and exit code 1."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

JEROBOAM = Path(sys.executable).with_name("jeroboam")


def run(directory: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "JEROBOAM_STATE_DIRECTORY": str(directory / "state"),
        "OS_CLIENT_CONFIG_FILE": str(directory / "clouds.yaml"),
        **settings,
    }
    return subprocess.run(
        [str(JEROBOAM), *arguments],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("command", "setting", "value"),
    [
        ("serve", "JEROBOAM_API_PORT", "many"),
        ("serve", "JEROBOAM_LOG_FORMAT", "xml"),
        ("worker", "JEROBOAM_SECRETS_KEY", "too-short"),
        ("worker", "JEROBOAM_CLOUD", "absent"),
        ("worker", "JEROBOAM_DATABASE_URL", "mysql://x"),
        ("worker", "JEROBOAM_STATE_DIRECTORY", "/proc/absent"),
    ],
)
def test_wrong_setting(tmp_path: Path, command: str, setting: str, value: str) -> None:
    """A wrong setting ends the process with its name and no traceback."""
    done = run(tmp_path, command, **{setting: value})
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1
    assert last.startswith("jeroboam: ")
    assert setting in last
    assert "Traceback" not in done.stderr


def test_database_upgrade(tmp_path: Path) -> None:
    """The embedded database is made by one command, which may be repeated."""
    for _ in range(2):
        done = run(tmp_path, "db", "upgrade")
        assert done.returncode == 0, done.stderr
        assert done.stdout == "The database is up to date.\n"
    assert (tmp_path / "state" / "jeroboam.sqlite").exists()


def test_database_that_does_not_answer(tmp_path: Path) -> None:
    """A database that is down is said to be, without the password of its URL."""
    url = "postgresql+asyncpg://user:hunter2@127.0.0.1:1/jeroboam"
    done = run(tmp_path, "db", "upgrade", JEROBOAM_DATABASE_URL=url)
    assert done.returncode == 1
    assert "JEROBOAM_DATABASE_URL" in done.stderr
    assert "hunter2" not in done.stderr
