"""The operator's file of hooks: read at the start, and every mistake is named with its place."""

from pathlib import Path

import pytest

from jeroboam.errors import ConfigurationError
from jeroboam.hooks import file
from jeroboam.hooks.kit import HookKit
from jeroboam.models import FailurePolicy, HookPhase, HookSource, OperationKind
from jeroboam.models.hook import HookScope
from jeroboam.settings import Settings

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

FILE = f"""
hooks:
  - name: budget
    source: command
    argv: [/usr/local/bin/check-budget, --strict]
    phases: [before]
    operations: [create, resize]
    timeout_seconds: 20
  - name: approve
    source: webhook
    url: https://hooks.example.org/jeroboam
    secret: {SECRET}
    phases: [before]
    scope: project
    scope_id: p1
    runs_after: [budget]
    on_failure: fail
  - name: dns
    source: python
    options:
      zone: clusters.example.org.
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hooks.yaml"


def settings(path: Path) -> Settings:
    return Settings(hooks_file=path, webhook_allowed=("https://hooks.example.org",))


def test_file_is_read(path: Path) -> None:
    """The file holds all kinds of hooks; secrets are kept apart and shown nowhere."""
    path.write_text(FILE)
    found = file.read(path)
    assert list(found.declarations) == ["budget", "approve", "dns"]
    budget, approve, dns = found.declarations.values()
    assert (budget.source, budget.argv[1]) == (HookSource.COMMAND, "--strict")
    assert budget.operations == (OperationKind.CREATE, OperationKind.RESIZE)
    assert (approve.scope, approve.scope_id) == (HookScope.PROJECT, "p1")
    assert (approve.phases, approve.on_failure) == ((HookPhase.BEFORE,), FailurePolicy.FAIL)
    assert dns.options == {"zone": "clusters.example.org."}
    assert found.secrets == {"approve": SECRET}
    assert SECRET not in repr(found)


def test_uuid_is_the_same_in_all_processes(path: Path) -> None:
    """A declaration of the file has the same uuid wherever and whenever it is read."""
    path.write_text(FILE)
    assert file.read(path).declarations["dns"].uuid == file.read(path).declarations["dns"].uuid


def test_secret_from_a_file(path: Path, tmp_path: Path) -> None:
    """A secret may lie in a file of its own."""
    secret = tmp_path / "secret"
    secret.write_text(f"{SECRET}\n")
    path.write_text(FILE.replace(f"secret: {SECRET}", f"secret_file: {secret}"))
    assert file.read(path).secrets == {"approve": SECRET}
    secret.unlink()
    with pytest.raises(ConfigurationError, match="secret of hook 'approve' cannot be read"):
        file.read(path)


def test_process_starts_with_the_file(path: Path) -> None:
    """What a worker and the API load from the settings has the file's hooks."""
    path.write_text(FILE)
    kit = HookKit.load(settings(path), bytes(32))
    assert set(kit.registry.declared) == {"budget", "approve", "dns"}
    assert kit.registry.find("dns")
    assert HookKit.load(Settings(), bytes(32)).registry.declared == {}


@pytest.mark.parametrize("text", ["", "hooks: []", "hooks:"])
def test_empty_file(path: Path, text: str) -> None:
    """An empty file declares nothing."""
    path.write_text(text)
    if text == "hooks:":
        with pytest.raises(ConfigurationError, match="hooks"):
            file.read(path)
    else:
        assert file.read(path).declarations == {}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("hooks:", "hook:", "hook: Extra inputs"),
        ("argv: [", "argv: [[", "is no YAML in line"),
        ("argv:", "args:", r"hooks\.0\.args"),
        ("[before]", "[sometimes]", r"hooks\.0\.phases\.0"),
        ("name: budget", "name: Budget", r"hooks\.0\.name"),
        ("name: dns", "name: budget", "declares budget twice"),
        ("source: python", "source: driver", "cannot be declared"),
        ("scope_id: p1", "enabled: true", "needs 'scope_id'"),
        ("name: budget", "name: budget\n    uuid: x", "'uuid' cannot be set"),
        (f"secret: {SECRET}", f"secret: {SECRET}\n    secret_file: /x", "exclude each other"),
    ],
)
def test_mistake_in_the_file(path: Path, old: str, new: str, expected: str) -> None:
    """A mistake is named with file and place, and no secret is quoted."""
    path.write_text(FILE.replace(old, new))
    with pytest.raises(ConfigurationError, match=expected) as caught:
        file.read(path)
    assert "JEROBOAM_HOOKS_FILE" in caught.value.message
    assert SECRET not in caught.value.message


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("hooks.example.org", "elsewhere.example.org", "'approve': .* not allowed"),
        (f"secret: {SECRET}", "enabled: true", "'approve': A webhook needs a signing secret"),
        (SECRET, "tell-nobody", "'approve': A webhook needs a signing secret"),
        ("runs_after: [budget]", "runs_after: [ghost]", "'approve' runs after ghost"),
        ("runs_after: [budget]", "runs_after: [approve]", "circle"),
        ("name: dns", "name: unknown", "'unknown' is not installed"),
        ("name: dns", "name: names\n    hook: unknown", "'unknown' is not installed"),
        ("zone:", "zones:", "'dns': Option 'zone'"),
        ("source: python", "source: python\n    phases: [before]", "does not have the phases"),
    ],
)
def test_declaration_that_cannot_work(path: Path, old: str, new: str, expected: str) -> None:
    """A declaration that cannot work ends the process at its start."""
    path.write_text(FILE.replace(old, new))
    with pytest.raises(ConfigurationError, match=expected) as caught:
        HookKit.load(settings(path), bytes(32))
    assert "JEROBOAM_HOOKS_FILE" in caught.value.message
    assert "tell-nobody" not in caught.value.message


def test_missing_file(path: Path) -> None:
    """A file that is not there ends the process at its start."""
    with pytest.raises(ConfigurationError, match="cannot be read"):
        file.read(path)


def test_lists_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allowed targets and networks are written as lists with commas."""
    monkeypatch.setenv("JEROBOAM_WEBHOOK_ALLOWED", "https://a.example/, https://b.example/x")
    monkeypatch.setenv("JEROBOAM_WEBHOOK_NETWORKS", "10.0.0.0/8,fd00::/8")
    found = Settings()
    assert found.webhook_allowed == ("https://a.example/", "https://b.example/x")
    assert found.webhook_networks == ("10.0.0.0/8", "fd00::/8")
