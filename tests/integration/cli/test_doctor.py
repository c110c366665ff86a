"""``jeroboam doctor`` finds what is wrong, and says how to mend it."""

import base64
import json
import os
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from jeroboam.store import migrate
from tests.conftest import TemporalServer

JEROBOAM = Path(sys.executable).with_name("jeroboam")
KEY = base64.b64encode(b"k" * 32).decode()
SECRET = "a-password-nobody-may-see"


class Patient:
    """A machine of an operator: settings, and what the doctor says of them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.state = directory / "state"
        self.state.mkdir(mode=0o700)
        self.settings = {
            "JEROBOAM_STATE_DIRECTORY": str(self.state),
            "JEROBOAM_DRIVERS_DIRECTORY": str(directory / "drivers"),
            "JEROBOAM_TEMPORAL_ADDRESS": "127.0.0.1:1",
            "OS_CLIENT_CONFIG_FILE": str(directory / "clouds.yaml"),
        }

    def run(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if name[:3] not in ("JER", "OS_")}
        return subprocess.run(
            [str(JEROBOAM), "doctor", *arguments],
            cwd=self.directory,
            env={**kept, **self.settings, **settings},
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )

    def report(self, *arguments: str, **settings: str) -> dict[str, dict[str, Any]]:
        done = self.run("-f", "json", *arguments, **settings)
        findings = {one["check"]: one for one in json.loads(done.stdout)}
        failed = any(one["state"] == "fail" for one in findings.values())
        assert done.returncode == (1 if failed else 0), done.stderr
        assert all(one["mend"] for one in findings.values() if one["state"] != "ok")
        return findings


@pytest.fixture
def patient(tmp_path: Path) -> Patient:
    return Patient(tmp_path)


@pytest.fixture
def silent() -> Iterator[str]:
    """An address that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_new_machine_is_told_what_is_missing(patient: Patient) -> None:
    """Each thing has its line, with how it is and what to do; nothing is made."""
    found = patient.report()
    states = {name: one["state"] for name, one in found.items()}
    assert states["settings"] == "ok"
    assert states["state directory"] == "ok"
    assert states["secrets key"] == states["hooks key"] == states["database"] == "warn"
    assert states["drivers"] == states["hooks"] == states["policy"] == "ok"
    assert states["temporal"] == states["cloud"] == "fail"
    assert "k8s_fedora_coreos_v1" in found["drivers"]["detail"]
    assert "clouds.yaml" in found["cloud"]["detail"]
    assert list(patient.state.iterdir()) == []


def test_a_table_for_people(patient: Patient) -> None:
    """Without a format it is a table."""
    done = patient.run()
    assert "| state | check" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


async def test_temporal_and_database(
    patient: Patient, temporal_server: TemporalServer, temporal_client: Client
) -> None:
    """A server that answers is fine; a queue that nobody polls is not, nor is a wrong namespace."""
    await migrate.upgrade(f"sqlite+aiosqlite:///{patient.state / 'jeroboam.sqlite'}")
    address = {"JEROBOAM_TEMPORAL_ADDRESS": temporal_server.address}
    found = patient.report(**address, JEROBOAM_TASK_QUEUE="nobody-is-here")
    assert found["database"]["state"] == "ok"
    assert found["temporal"]["state"] == "ok"
    assert found["search attributes"]["state"] == "ok"
    assert found["queue nobody-is-here"]["state"] == "fail"
    assert "jeroboam worker" in found["queue nobody-is-here-poll"]["mend"]
    found = patient.report(**address, JEROBOAM_TEMPORAL_NAMESPACE="absent")
    assert "no namespace 'absent'" in found["temporal"]["detail"]


@pytest.mark.parametrize(
    ("revision", "words"), [("0001", "this version needs"), ("9999", "of a newer version")]
)
async def test_another_schema(patient: Patient, revision: str, words: str) -> None:
    """An older schema is to be upgraded; with a newer one the older program must not run."""
    file = patient.state / "jeroboam.sqlite"
    await migrate.upgrade(f"sqlite+aiosqlite:///{file}")
    with sqlite3.connect(file) as database:
        database.execute("UPDATE alembic_version SET version_num = ?", (revision,))
    found = patient.report()["database"]
    assert (found["state"], words in found["detail"]) == ("fail", True)


def test_what_does_not_answer_does_not_hold_it_up(patient: Patient, silent: str) -> None:
    """Services that take a connection and say nothing are given up after the time."""
    login = {"auth_url": f"http://{silent}/v3", "username": "u", "password": SECRET}
    login |= {"project_name": "p", "user_domain_name": "d", "project_domain_name": "d"}
    clouds = {"clouds": {"jeroboam": {"auth": login}}}
    (patient.directory / "clouds.yaml").write_text(json.dumps(clouds))
    found = patient.report(
        "--timeout",
        "4",
        JEROBOAM_TEMPORAL_ADDRESS=silent,
        JEROBOAM_DATABASE_URL=f"postgresql+asyncpg://u:{SECRET}@{silent}/x",
    )
    for name in ("database", "temporal", "cloud"):
        assert found[name]["state"] == "fail", found[name]
    assert SECRET not in json.dumps(found)


def test_nothing_secret_is_shown(patient: Patient) -> None:
    """Neither keys nor passwords are in the report, whatever fails."""
    settings = {
        "JEROBOAM_SECRETS_KEY": KEY,
        "JEROBOAM_HOOKS_KEY": SECRET,
        "JEROBOAM_TEMPORAL_API_KEY": SECRET,
        "JEROBOAM_DATABASE_URL": f"postgresql+asyncpg://u:{SECRET}@127.0.0.1:1/x",
    }
    for output in ("json", "table"):
        done = patient.run("-f", output, **settings)
        assert SECRET not in done.stdout + done.stderr
        assert KEY not in done.stdout + done.stderr
    keys = patient.report(**settings)["keys"]
    assert (keys["state"], "JEROBOAM_HOOKS_KEY" in keys["detail"]) == ("fail", True)


def test_slips_in_settings(patient: Patient) -> None:
    """A variable that is wrong ends the report at once; one that is misspelt is named."""
    found = patient.report(JEROBOAM_API_PORT="many")
    assert list(found) == ["settings"]
    assert "JEROBOAM_API_PORT" in found["settings"]["detail"]
    found = patient.report(JEROBOAM_POLICY_FIEL="x")
    assert found["settings"]["mend"] == "Did you mean JEROBOAM_POLICY_FILE?"


def test_plug_ins_and_files(patient: Patient) -> None:
    """A driver that is broken, a wrong hooks file and a slip in the policy are told apart."""
    broken = patient.directory / "drivers" / "mine"
    broken.mkdir(parents=True)
    (broken / "driver.py").write_text("")
    policy = patient.directory / "policy.yaml"
    policy.write_text('"cluster:crate": "role:x"\n')
    hooks = patient.directory / "hooks.yaml"
    hooks.write_text("- nonsense\n")
    patient.state.chmod(0o755)
    found = patient.report(JEROBOAM_POLICY_FILE=str(policy), JEROBOAM_HOOKS_FILE=str(hooks))
    assert "version.py" in found["driver mine"]["detail"]
    assert found["policy"]["mend"] == "Write 'cluster:create', or remove it."
    assert found["hooks"]["state"] == "fail"
    assert found["state directory"]["mend"] == f"chmod 700 {patient.state}"
    policy.write_text('"cluster:create": "rule:absent"\n')
    found = patient.report(JEROBOAM_POLICY_FILE=str(policy))
    assert (found["policy"]["state"], "absent" in found["policy"]["detail"]) == ("fail", True)
