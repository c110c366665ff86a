"""How Mistral's executions are read, and what its workbook is called."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from jeroboam.drivers.base import Phase
from jeroboam.drivers.k8s_mistral_v1.driver import MistralDriver
from jeroboam.drivers.mistral.engine import workbook
from jeroboam.drivers.mistral.executions import Execution, description
from jeroboam.drivers.nodes.files import Files
from jeroboam.drivers.servers import tokens
from jeroboam.drivers.servers.engine import Work


def execution(state: str, reason: str = "", seconds: int = 60) -> Execution:
    return Execution.of(
        {
            "id": "e",
            "description": description("uuid", "key", seconds),
            "state": state,
            "state_info": reason,
            "workflow_name": "jeroboam_1.apply",
        }
    )


@pytest.mark.parametrize(
    ("state", "reason", "phase"),
    [
        ("RUNNING", "", Phase.RUNNING),
        ("PAUSED", "", Phase.RUNNING),
        ("SUCCESS", "", Phase.DONE),
        ("CANCELLED", "", Phase.INTERRUPTED),
        ("ERROR", "Heartbeat wasn't received.", Phase.INTERRUPTED),
        ("ERROR", "no", Phase.FAILED),
    ],
)
def test_phases(state: str, reason: str, phase: Phase) -> None:
    assert execution(state, reason).progress(removes=False).phase is phase


@pytest.mark.parametrize(
    ("state", "phase"),
    [("RUNNING", Phase.INTERRUPTED), ("SUCCESS", Phase.DONE), ("ERROR", Phase.FAILED)],
)
def test_work_does_not_outlive_its_token(state: str, phase: Phase) -> None:
    """Only what is still at work is begun again."""
    assert execution(state, seconds=-1).progress(removes=False).phase is phase


def test_executions_of_an_earlier_version_have_no_due_time() -> None:
    found = Execution.of({"id": "e", "description": "jeroboam uuid key", "state": "RUNNING"})
    assert (found.cluster, found.key, found.due) == ("uuid", "key", None)
    assert not found.outlives_its_token


@pytest.mark.parametrize(
    ("life", "seconds"), [(3600, 3420), (300, 150), (60, 30), (1, 1), (-5, 1)], ids=str
)
def test_work_ends_before_its_token(life: int, seconds: int) -> None:
    """There is a margin, also where Keystone's tokens are short-lived."""
    now = datetime.now(UTC)
    assert tokens.seconds_of(now + timedelta(seconds=life), now) == seconds


def test_a_removal_ends_in_nothing() -> None:
    assert execution("SUCCESS").progress(removes=True).phase is Phase.GONE


def test_the_reason_is_told_without_mistrals_own_words() -> None:
    text = (
        "Failure caused by error in tasks: a\n a [task_ex_id=1] -> The action raised an exception "
        "[action=<X>, msg='Quota exceeded for instances']\n [idx=0]: msg='Quota exceeded for "
        "instances'"
    )
    assert execution("ERROR", text).words() == "Quota exceeded for instances"


def test_secrets_in_a_reason_are_not_told() -> None:
    text = "msg='X-Auth-Token: gAAAAABm" + "x" * 40 + "'"
    assert "gAAAA" not in execution("ERROR", text).words()


@pytest.mark.parametrize("text", [None, "", "somebody's", "jeroboam uuid", "other uuid key"])
def test_other_executions_are_not_ours(text: str | None) -> None:
    record = {"id": "e", "description": text, "state": "RUNNING"}
    assert Execution.of(record).cluster == ""


def test_workbooks_of_versions_have_names_of_their_own(tmp_path: Path) -> None:
    """The name changes with the text and only with it, and says so inside of the text."""
    source = MistralDriver.source
    name, text = workbook(source)
    assert yaml.safe_load(text)["name"] == name
    assert {work.value for work in Work} <= set(yaml.safe_load(text)["workflows"])
    (tmp_path / "workbook.yaml").write_text(source.read("workbook.yaml"))
    assert workbook(Files((tmp_path,)))[0] == name
    (tmp_path / "workbook.yaml").write_text(source.read("workbook.yaml") + "\n# new\n")
    assert workbook(Files((tmp_path,)))[0] != name
