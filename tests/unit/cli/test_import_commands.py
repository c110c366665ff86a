"""What ``jeroboam cluster import`` sends and shows."""

import io
from pathlib import Path
from typing import Any, cast

import pytest
from rich.console import Console

from jeroboam.cli.client.api import Answer, Api
from jeroboam.cli.client.commands import Run
from jeroboam.cli.client.import_commands import import_cluster, import_keys
from jeroboam.cli.client.output import WIDE, Screen
from jeroboam.cli.client.problems import UsageError

REPORT = {
    "imported": False,
    "uuid": "u",
    "name": "old",
    "findings": [{"what": "stack", "found": "old-abc, CREATE_COMPLETE", "complete": True}],
    "operations": {"delete": None, "upgrade": "Magnum removed it"},
    "obstacles": [],
}


class Recorder:
    """Stands in for the service: keeps what is sent, and gives one answer."""

    def __init__(self, body: Any) -> None:
        self.body = body
        self.sent: list[tuple[Any, ...]] = []

    def send(self, method: str, *path: str, query: Any = None, body: Any = None) -> Answer:
        self.sent.append((method, path, query, body))
        return Answer(200, self.body)


def run_with(recorder: Recorder) -> tuple[Run, io.StringIO]:
    output = io.StringIO()
    screen = Screen(console=Console(file=output, width=WIDE))
    return Run(cast("Api", recorder), screen), output


def test_only_what_is_given_is_sent(tmp_path: Path) -> None:
    """Files are read, and fields that nobody named are left to the service."""
    certificate, key = tmp_path / "ca.crt", tmp_path / "ca.key"
    certificate.write_text("certificate")
    key.write_text("key")
    recorder = Recorder(REPORT)
    run, _ = run_with(recorder)
    import_cluster(run, "stack", ca_cert=str(certificate), ca_key=str(key), dry_run=True)
    keys = {"kubernetes": {"certificate": "certificate", "private_key": "key"}}
    body = {"stack_id": "stack", "keys": keys}
    assert recorder.sent == [("POST", ("clusters", "import"), {"dry_run": True}, body)]
    import_keys(run, "c", ca_cert=str(certificate), ca_key=str(key))
    assert recorder.sent[1] == ("PUT", ("clusters", "c", "keys"), None, keys)


def test_pairs_belong_together(tmp_path: Path) -> None:
    """A certificate without its key, a file that is not there and other keys alone are refused."""
    recorder = Recorder(REPORT)
    run, _ = run_with(recorder)
    file = tmp_path / "file"
    file.write_text("x")
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"ca_cert": str(file)}, "belong together"),
        ({"ca_cert": str(file), "ca_key": str(tmp_path / "none")}, "cannot be read"),
        ({"etcd_ca_cert": str(file), "etcd_ca_key": str(file)}, "--ca-cert and --ca-key"),
    )
    for given, words in wrong:
        with pytest.raises(UsageError, match=words):
            import_cluster(run, "stack", **given)
    assert recorder.sent == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "It can be imported. Nothing was done."),
        ({"obstacles": ["Stack x is UPDATE_FAILED."]}, "cannot be imported now: Stack x"),
        ({"imported": True}, "Cluster old (u) is imported."),
    ],
    ids=["dry-run", "obstacle", "imported"],
)
def test_people_are_told(changes: dict[str, Any], words: str) -> None:
    """What was found and what is possible stands in tables, and the outcome below them."""
    run, output = run_with(Recorder(REPORT | changes))
    import_cluster(run, "stack")
    shown = output.getvalue()
    assert "old-abc, CREATE_COMPLETE" in shown
    assert "Magnum removed it" in shown
    assert words in shown
