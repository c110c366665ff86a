"""The virtual environment of the OpenStack services."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path

from devcloud.errors import DevcloudError
from devcloud.layout import write_private
from devcloud.progress import Report

LOCK = Path(__file__).with_name("requirements.lock")
MARKER = "devcloud-installed.json"
NO_VENV = "Install it, on Debian and Ubuntu with: apt-get install python3-venv."


def lock_digest() -> str:
    """Return a short digest of the pinned versions."""
    return hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]


def is_installed(venv: Path) -> bool:
    """Tell whether a virtual environment holds exactly the pinned versions."""
    try:
        stored = json.loads((venv / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(stored.get("lock") == lock_digest()) and (venv / "bin" / "python").exists()


def ensure(venv: Path, report: Report) -> bool:
    """Create or complete the virtual environment.

    Two devclouds may share one: the second waits until the first has finished.

    Returns:
        True if anything had to be installed.

    Raises:
        DevcloudError: If the installation does not succeed.
    """
    if is_installed(venv):
        return False
    venv.parent.mkdir(parents=True, exist_ok=True)
    with _exclusive(venv.parent / f".{venv.name}.lock", report):
        if is_installed(venv):
            return False
        uv = _uv(venv.parent / f".{venv.name}-boot", report)
        if not (venv / "bin" / "python").exists():
            report(f"creating the virtual environment {venv}")
            shutil.rmtree(venv, ignore_errors=True)
            _run([str(uv), "venv", "--quiet", "--python", sys.executable, str(venv)])
        report("installing the services (some 190 packages)")
        command = [str(uv), "pip", "sync", "--quiet", "--python", str(venv / "bin" / "python")]
        # An earlier installer may have left a half-written package behind.
        _run([*command, str(LOCK)])
        write_private(venv / MARKER, json.dumps({"lock": lock_digest()}) + "\n")
    return True


@contextlib.contextmanager
def _exclusive(path: Path, report: Report) -> Iterator[None]:
    with path.open("w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("waiting for another devcloud which is installing")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _uv(boot: Path, report: Report) -> Path:
    """Return the path of uv, installing it into a small environment if need be."""
    found = shutil.which("uv")
    if found:
        return Path(found)
    uv = boot / "bin" / "uv"
    if not uv.exists():
        report("installing uv")
        shutil.rmtree(boot, ignore_errors=True)
        try:
            _run([sys.executable, "-m", "venv", str(boot)])
        except DevcloudError as error:
            shutil.rmtree(boot, ignore_errors=True)
            raise DevcloudError(
                "Python's venv module is missing or does not work.", NO_VENV
            ) from error
        _run([str(boot / "bin" / "python"), "-m", "pip", "install", "--quiet", "uv"])
    return uv


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(
            command,
            env=_environment(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise DevcloudError(f"{command[0]} cannot be run: {error}.") from error
    if done.returncode:
        raise _explained(command, done.stdout + done.stderr)


def _environment(base: Mapping[str, str]) -> dict[str, str]:
    """Drop what would make pip or uv work on some other environment than the named one."""
    dropped = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PIP_TARGET", "PIP_PREFIX", "PIP_USER")
    return {key: value for key, value in base.items() if key not in dropped}


def _explained(command: list[str], output: str) -> DevcloudError:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    last = lines[-1] if lines else "no output"
    said = output.lower()
    if "no space left" in said:
        return DevcloudError("The disk is full.", "Free about 1 GB and run the command again.")
    if any(w in said for w in ("failed to fetch", "dns", "resolve", "connect", "timed out")):
        return DevcloudError(
            f"The packages cannot be downloaded: {last}",
            "Check the network (and the index URL that pip or uv is configured with).",
        )
    if "python.h" in said or "gcc" in said:
        version = sysconfig.get_python_version()
        return DevcloudError(
            f"A package has no wheel for Python {version} and cannot be built.",
            "Run devcloud with Python 3.11, 3.12 or 3.13.",
        )
    return DevcloudError(f"{Path(command[0]).name} failed: {last}", "Run the command again.")
