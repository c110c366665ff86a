"""The deployment files: there may be no container engine here, so they are checked as documents."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.acceptance.compose_rules import faults

ROOT = Path(__file__).parent.parent.parent
COMPOSE = ROOT / "docker-compose.yml"
DOCKERFILE = ROOT / "Dockerfile"
EXAMPLE = (ROOT / ".env.example").read_text()
HADOLINT = Path(sys.executable).with_name("hadolint")
SCRIPTS = sorted((ROOT / "deploy").rglob("*.sh"))
CHECK_SECONDS = 60


def validate(path: Path) -> subprocess.CompletedProcess[str]:
    """Check a file against the compose specification's own schema, which the package carries."""
    return run(
        sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", path
    )


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, text=True, timeout=CHECK_SECONDS, check=False
    )


def load(text: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded


def test_compose_file_is_valid() -> None:
    """The compose file obeys the compose specification."""
    checked = validate(COMPOSE)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("condition: service_healthy", "condition: service_happy"),
        ("stop_grace_period: 60s", "stop_grace: 60s"),
        ("replicas: 2", "replicas: [2]"),
        ("    healthcheck:\n", "    healthchek:\n"),
        ("internal: true", "internal: {yes: no}"),
    ],
)
def test_broken_compose_file_is_refused(good: str, bad: str, tmp_path: Path) -> None:
    """A compose file with a mistake in it is refused: the check above can fail."""
    text = COMPOSE.read_text()
    assert good in text
    broken = tmp_path / "docker-compose.yml"
    broken.write_text(text.replace(good, bad))
    assert validate(broken).returncode == 1


def test_compose_file_obeys_our_rules() -> None:
    """Everything named exists, images are pinned, ports are local, no secret has a default."""
    assert faults(load(COMPOSE.read_text()), ROOT, EXAMPLE) == []


@pytest.mark.parametrize(
    ("good", "bad", "fault"),
    [
        ("127.0.0.1:9511:9511", "9511:9511", "not on loopback"),
        ("postgres:18.6-trixie", "postgres:latest", "not pinned"),
        ("temporalio/server:1.32.0", "temporalio/auto-setup:1.29.0", "archived"),
        ("${POSTGRES_PASSWORD:?Set POSTGRES_PASSWORD in .env}", "postgres", "has a default"),
        ("JEROBOAM_TEMPORAL_ADDRESS", "JEROBOAM_TEMPORAL_HOST", "is no setting"),
        ("database:/var/lib", "databse:/var/lib", "does not exist"),
        ("./deploy/temporal:", "./deploy/missing:", "does not exist"),
        ("/deploy:ro", "/deploy:rw", "can be written"),
        ("${JEROBOAM_CLOUD:-", "${JEROBOAM_ENTRY:-", "is not in .env.example"),
        ("\n      migrate:\n", "\n      migrations:\n", "does not exist"),
        (
            "    healthcheck:\n      test: [CMD, nc",
            "    x-check:\n      test: [CMD, nc",
            "no check",
        ),
    ],
)
def test_broken_rule_is_found(good: str, bad: str, fault: str) -> None:
    """A compose file that breaks a rule of ours is found out."""
    text = COMPOSE.read_text()
    assert good in text
    found = faults(load(text.replace(good, bad)), ROOT, EXAMPLE)
    assert any(fault in one for one in found), found


def test_worker_can_finish_its_step() -> None:
    """Compose waits longer for a worker's end than the worker does for its steps."""
    services = load(COMPOSE.read_text())["services"]
    grace = int(services["worker"]["stop_grace_period"].removesuffix("s"))
    assert grace > 30


def test_dockerfile_has_no_warnings() -> None:
    """The Dockerfile passes hadolint with all its rules."""
    checked = run(HADOLINT, "--no-color", DOCKERFILE)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_bad_dockerfile_is_refused(tmp_path: Path) -> None:
    """A Dockerfile with an unpinned image and an unpinned package is refused."""
    bad = tmp_path / "Dockerfile"
    text = DOCKERFILE.read_text()
    bad.write_text(re.sub(r"(python|uv)(:|==)[\d.]+\S*", r"\1", text))
    checked = run(HADOLINT, "--no-color", bad)
    assert checked.returncode == 1
    assert {"DL3006", "DL3013"} <= set(re.findall(r"DL\d+", checked.stdout))


def test_image_runs_without_privileges() -> None:
    """The last stage runs as a numbered user that is not root, from a pinned image."""
    stage = DOCKERFILE.read_text().rpartition("\nFROM ")[2]
    assert re.search(r"^USER [1-9]\d+:[1-9]\d+$", stage, re.MULTILINE)


def test_image_installs_the_locked_uv() -> None:
    """The image is built with the version of uv that the lock file names."""
    locked = re.search(r"^uv==([\d.]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert locked
    assert f"uv=={locked[1]} " in DOCKERFILE.read_text()


def test_build_context_holds_no_secret() -> None:
    """Only what the Dockerfile copies reaches the builder."""
    allowed = {
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"
    }
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE.read_text(), re.MULTILINE)
    assert allowed == {source for line in copied for source in line.split()}


@pytest.mark.parametrize(
    "script", sorted((ROOT / "deploy").rglob("*.sh")), ids=lambda path: path.name
)
def test_scripts_are_sound(script: Path) -> None:
    """Each script passes shellcheck and can be executed."""
    checked = run(Path(sys.executable).with_name("shellcheck"), script)
    assert checked.returncode == 0, checked.stdout
    assert script.stat().st_mode & 0o111


def test_probe_tells_health(tmp_path: Path) -> None:
    """The health checks' probe fails when nothing answers."""
    probe = shutil.copy(ROOT / "deploy" / "probe.py", tmp_path / "probe")
    checked = run(sys.executable, probe, "http://127.0.0.1:9/healthcheck")
    assert checked.returncode == 1
    assert "127.0.0.1:9" in checked.stderr
