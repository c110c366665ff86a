"""The bootstrap tells in one line what hinders it, and costs nothing when all is there."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools import environment
from tools.environment import CHECKOUT, Problem, Progress, explain

COPIED = ("tools", "devcloud", "requirements.lock", "pyproject.toml")
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout in which nothing is installed yet."""
    for name in COPIED:
        source = CHECKOUT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tmp_path / name)
    return tmp_path


def run(checkout: Path, *arguments: str, prelude: str = "") -> subprocess.CompletedProcess[str]:
    """Run the bootstrap, after some lines of Python which simulate the machine."""
    script = str(checkout / "tools" / "bootstrap.py")
    code = f"import sys\n{prelude}\nimport runpy\nsys.argv[:] = {[script, *arguments]!r}\n"
    code += f"runpy.run_path({script!r}, run_name='__main__')"
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), NOWHERE)
    no_cache = {"UV_CACHE_DIR": str(checkout / "uv"), "PIP_NO_CACHE_DIR": "1"}
    base = {k: v for k, v in os.environ.items() if k.lower() != "no_proxy"}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=base | proxies | no_cache,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    """Return the one line of complaint."""
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


def test_an_old_python(checkout: Path) -> None:
    """A Python that is too old is told so, and how to name a newer one."""
    said = complaint(run(checkout, prelude="sys.version_info = (3, 9, 2, 'final', 0)"))
    assert said.startswith("bootstrap: Python 3.9 is too old; 3.11 or newer is needed.")
    assert "make PYTHON=" in said


def test_the_first_file_is_readable_for_old_pythons() -> None:
    """The file that tells an old Python uses no syntax that it does not know."""
    import ast

    source = (CHECKOUT / "tools" / "bootstrap.py").read_text()
    ast.parse(source, feature_version=(3, 6))


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_debian_without_venv(checkout: Path, module: str) -> None:
    """Where Debian's python3-venv is missing, the package is named."""
    said = complaint(run(checkout, prelude=f"sys.modules['{module}'] = None"))
    assert "apt install python3-venv" in said


def test_no_network(checkout: Path) -> None:
    """Without a network it is the network that is named."""
    said = complaint(run(checkout))
    assert "the packages cannot be downloaded: check the network" in said


def test_no_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A disk without room is noticed before anything is written to it."""
    monkeypatch.setattr(environment, "FREE_BYTES", 1 << 60)
    monkeypatch.setattr(environment, "VENV", tmp_path / "venv")
    monkeypatch.setattr(environment, "PYTHON", tmp_path / "venv" / "bin" / "python")
    monkeypatch.setattr(environment, "BOOT", tmp_path / "boot")
    with pytest.raises(Problem, match=r"the disk of .* has .* GB left"):
        environment.ensure(Progress(), devcloud=False)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("error: No space left on device (os error 28)", "is full"),
        ("The virtual environment was not created because ensurepip is not", "python3-venv"),
        ("error: Failed to fetch: `https://x/simple`\n  Caused by: dns error", "dns error"),
        ("error: hash mismatch for uv", "uv failed: error: hash mismatch for uv"),
        ("", "it printed nothing"),
    ],
)
def test_installers_are_understood(output: str, expected: str) -> None:
    """What an installer complains of becomes one line that says what to do."""
    said = explain(["/somewhere/uv", "pip"], output)
    assert expected in said
    assert "\n" not in said


def test_nothing_to_do_is_quick(checkout: Path) -> None:
    """When everything is installed the command runs at once, and nothing else is said."""
    complete = (
        "from tools import environment as made\n"
        "made.PYTHON.parent.mkdir(parents=True)\n"
        f"made.PYTHON.symlink_to({sys.executable!r})\n"
        "made._marker().write_text(made.digest())"
    )
    subprocess.run([sys.executable, "-c", complete], cwd=checkout, timeout=60, check=True)
    started = time.monotonic()
    done = run(checkout, "-c", "print('ran')")
    assert (done.stdout, done.stderr) == ("ran\n", "")
    assert time.monotonic() - started < 5
