"""``jeroboam policy`` tells what a policy file means."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
import yaml
from typer.testing import CliRunner, Result

from jeroboam import settings
from jeroboam.api.http.authorization import Authorizer
from jeroboam.cli.main import app
from jeroboam.cli.policy_book import with_implied

FILE = Path(__file__).parents[1] / "api" / "policy" / "operator-17-to-22.yaml"


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The settings of these tests are their own, and what a command does to logs is undone."""
    monkeypatch.setenv("JEROBOAM_STATE_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("JEROBOAM_DRIVERS_DIRECTORY", str(tmp_path / "drivers"))
    for name in set(os.environ) & {"OS_CLOUD", "JEROBOAM_POLICY_FILE"}:
        monkeypatch.delenv(name)
    settings.load.cache_clear()
    before = structlog.get_config()
    yield
    structlog.configure(**before)
    settings.load.cache_clear()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["policy", *arguments])


def test_list_shows_what_the_file_changes() -> None:
    """A changed rule has its default beside what is in force; drivers' rules are there too."""
    done = run("list", "-f", "json", "--policy-file", str(FILE))
    assert done.exit_code == 0, done.output
    rules = {one["rule"]: one for one in json.loads(done.stdout)}
    assert rules["federation:create"] == {
        "rule": "federation:create",
        "in_force": "!",
        "changed": True,
        "default": "rule:admin_or_project_member_deny_cluster_user",
        "request": "POST /v1/federations",
        "description": "Create a federation.",
    }
    assert not rules["cluster:get"]["changed"]
    assert rules["kubernetes:nodes"]["request"] == "GET /v1/clusters/{cluster}/kubernetes/nodes"
    changed = run("list", "-f", "yaml", "--changed", "--policy-file", str(FILE))
    assert {one["rule"] for one in yaml.safe_load(changed.stdout)} < set(
        yaml.safe_load(FILE.read_text())
    )


def test_the_sample_is_a_policy_file_that_changes_nothing(tmp_path: Path) -> None:
    """All of it is comments; without their signs it is a file with the defaults."""
    text = run("sample").stdout
    file = tmp_path / "policy.yaml"
    file.write_text(text)
    assert Authorizer(file).overrides == {}
    file.write_text(text.replace('#"', '"'))
    full = Authorizer(file)
    defaults = {rule.name: rule.check_str for rule in full.defaults}
    assert full.overrides == defaults
    assert "# Delete a cluster.\n# DELETE /v1/clusters/{ident}\n" in text


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("cluster:delete", "--roles", "member"), 0),
        (("cluster:delete", "--roles", "reader"), 3),
        (("cluster:get", "--roles", "member"), 0),
        (("cluster:get", "--roles", "guest"), 3),
        (("cluster:delete", "--roles", "member", "--target-project", "b"), 3),
        (("cluster:delete", "--roles", "admin", "--target-project", "b"), 0),
        (("certificate:get", "--roles", "member", "--target-user", "somebody"), 3),
        (("cluster:get", "cluster:delete", "--roles", "reader"), 3),
        (("cluster:delete", "--roles", "member", "--policy-file", str(FILE)), 3),
        (("cluster:delete", "--roles", "k8s_admin", "--policy-file", str(FILE)), 0),
        (("cluster:delete", "--roles", "cloud_operator", "--policy-file", str(FILE)), 0),
    ],
    ids=lambda value: (
        " ".join(value).replace(str(FILE), "FILE") if isinstance(value, tuple) else ""
    ),
)
def test_check_one_rule(arguments: tuple[str, ...], code: int) -> None:
    """The exit code is the verdict, for scripts."""
    done = run("check", *arguments)
    assert done.exit_code == code, done.output


def test_check_all_rules() -> None:
    """Each rule that a request asks for is there, and the verdicts are those of the API."""
    done = run("check", "--all", "--roles", "reader", "-f", "json")
    assert done.exit_code == 0
    verdicts = {one["rule"]: one["permitted"] for one in json.loads(done.stdout)}
    assert verdicts["cluster:get"]
    assert verdicts["driver:get_all"]
    assert not verdicts["cluster:create"]
    assert not verdicts["hook:get_all"]
    assert "context_is_admin" not in verdicts


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("check", "cluster:get"), "--roles, or --os-cloud"),
        (("check", "--roles", "member"), "Name rules to check"),
        (("check", "cluster:get", "--all", "--roles", "member"), "Name rules to check"),
        (("check", "cluster:gte", "--roles", "member"), "no rule 'cluster:gte'"),
        (("list", "--policy-file", "absent.yaml"), "absent.yaml does not exist"),
    ],
)
def test_wrong_usage_says_so(arguments: tuple[str, ...], words: str) -> None:
    """What is missing or misspelt is named."""
    done = run(*arguments)
    assert done.exit_code != 0
    assert words in str(getattr(done.exception, "message", done.output))


def test_a_misspelt_rule_of_the_file_is_named(tmp_path: Path) -> None:
    """On standard error, so that JSON stays JSON."""
    file = tmp_path / "policy.yaml"
    file.write_text('"cluster:delte": "role:x"\n')
    done = run("list", "-f", "json", "--policy-file", str(file))
    json.loads(done.stdout)
    assert "'cluster:delte' that nothing asks; did you mean 'cluster:delete'?" in done.stderr


def test_implied_roles() -> None:
    """Keystone adds them to tokens, so a made-up caller has them too."""
    assert with_implied(["admin"]) == ("admin", "manager", "member", "reader")
    assert with_implied(["member", "creator"]) == ("member", "creator", "reader")
    assert with_implied(["reader", " ", ""]) == ("reader",)
