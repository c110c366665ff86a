"""Installing the services' packages, and what is said when that fails."""

import sys
from pathlib import Path

import pytest

from devcloud import DevcloudError, install


def program(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines]) + "\n")
    path.chmod(0o755)
    return path


def fake_uv(folder: Path, *failure: str) -> None:
    """Put a uv on the path that makes environments but cannot fill them."""
    make = 'mkdir -p "$5/bin" && touch "$5/bin/python"'
    program(folder / "uv", f'[ "$1" = venv ] && {{ {make}; exit 0; }}', *failure, "exit 1")


@pytest.fixture
def steps() -> list[str]:
    return []


def test_packages_that_are_there_are_not_touched(cloud: object, steps: list[str]) -> None:
    """An environment with the pinned versions is left as it is."""
    from .conftest import VENV

    assert not install.ensure(VENV, steps.append)
    assert steps == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("error: Failed to fetch: `https://index.invalid/simple/nova/`", "Check the network"),
        ("dns error: failed to lookup address information", "Check the network"),
        ("No space left on device (os error 28)", "Free about 1 GB"),
        ("fatal error: Python.h: No such file or directory", "Python 3.11, 3.12 or 3.13"),
        ("error: something else", "something else"),
    ],
)
def test_a_failure_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: list[str], said: str, expected: str
) -> None:
    """What uv says is turned into a cause and a remedy."""
    fake_uv(tmp_path / "bin", f"echo '{said}' >&2")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    with pytest.raises(DevcloudError, match=expected):
        install.ensure(tmp_path / "venv", steps.append)
    assert not install.is_installed(tmp_path / "venv")


def test_a_missing_venv_module_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: list[str]
) -> None:
    """Debian puts it into a package of its own, which is named."""
    python = program(tmp_path / "python3", "echo 'No module named venv' >&2", "exit 1")
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(DevcloudError, match="python3-venv"):
        install.ensure(tmp_path / "venv", steps.append)
    assert sorted(tmp_path.iterdir()) == [tmp_path / ".venv.lock", python]


def test_the_lock_names_no_index() -> None:
    """The versions are pinned; where they come from is for pip's configuration to say."""
    lines = install.LOCK.read_text().splitlines()
    pinned = [line for line in lines if line and not line.startswith("#")]
    assert all("==" in line and "://" not in line for line in pinned)
