"""The policy table and its enforcement."""

import os
from pathlib import Path

import pytest
from oslo_policy.policy import DocumentedRuleDefault

from jeroboam.api.http import policies
from jeroboam.api.http.authorization import Authorizer
from jeroboam.errors import ConfigurationError, NotAuthorizedError
from jeroboam.models import ClusterTemplate, Identity

READER = Identity(user_id="r", project_id="p", roles=("reader",))
MEMBER = Identity(user_id="m", project_id="p", roles=("member", "reader"))
GUEST = Identity(user_id="g", project_id="p", roles=("guest",))
ADMIN = Identity(user_id="a", project_id="q", roles=("admin", "member", "reader"))
TEMPLATE = ClusterTemplate(name="t", project_id="p", user_id="m", coe="kubernetes", image_id="i")


@pytest.fixture(scope="module")
def authorizer() -> Authorizer:
    return Authorizer()


def test_the_names_are_magnum_s() -> None:
    """Operators find the rules that they know; a sample of each resource."""
    names = {rule.name for rule in policies.list_rules()}
    assert names >= {
        "context_is_admin",
        "cluster:create",
        "cluster:get_all_all_projects",
        "clustertemplate:publish",
        "nodegroup:get",
        "certificate:rotate_ca",
        "credential:rotate",
        "quota:get_all",
        "stats:get_all",
        "magnum-service:get_all",
        "federation:detail",
    }


def test_every_rule_is_documented() -> None:
    """Each rule but the building blocks says what it permits and for which route."""
    documented = [rule for rule in policies.list_rules() if isinstance(rule, DocumentedRuleDefault)]
    assert {rule.name for rule in documented} == {
        rule.name for rule in policies.list_rules() if ":" in rule.name
    }
    assert len(documented) == len({rule.name for rule in documented})
    for rule in documented:
        assert rule.description
        assert rule.operations[0]["path"].startswith("/v1/")


def test_only_the_role_admin_makes_an_administrator(authorizer: Authorizer) -> None:
    """The rule ``context_is_admin`` decides, on whatever project the token is."""
    assert authorizer.recognise_admin(ADMIN).is_admin
    assert not authorizer.recognise_admin(MEMBER).is_admin


@pytest.mark.parametrize(
    ("rule", "reader", "member", "admin"),
    [
        ("cluster:create", False, True, True),
        ("cluster:delete", False, True, True),
        ("cluster:get", True, True, True),
        ("cluster:get_all", True, True, True),
        ("cluster:get_all_all_projects", False, False, True),
        ("cluster:rebuild", False, True, True),
        ("cluster:reboot", False, True, True),
        ("cluster:check_health", False, True, True),
        ("cluster:force_delete", False, False, True),
        ("operation:get", True, True, True),
        ("operation:get_all", True, True, True),
        ("operation:get_run", False, False, True),
        ("operation:get_all_all_projects", False, False, True),
        ("operation:cancel", False, True, True),
        ("operation:retry", False, True, True),
        ("operation:resume", False, True, True),
        ("operation:approve", False, False, True),
        ("clustertemplate:publish", False, False, True),
        ("magnum-service:get_all", False, False, True),
        ("nodegroup:get_all", True, True, True),
        ("credential:rotate", False, True, True),
    ],
)
def test_who_may_do_what(
    authorizer: Authorizer, rule: str, reader: bool, member: bool, admin: bool
) -> None:
    """Readers read, members write, administrators publish and see all; guests do nothing."""
    assert authorizer.permits(rule, READER) is reader
    assert authorizer.permits(rule, MEMBER) is member
    assert authorizer.permits(rule, ADMIN) is admin
    assert not authorizer.permits(rule, GUEST)


def test_a_refusal_names_the_rule(authorizer: Authorizer) -> None:
    """The user is told which rule to ask the operator about."""
    with pytest.raises(NotAuthorizedError, match="Policy doesn't allow cluster:create to be"):
        authorizer.require("cluster:create", READER)


def test_another_project_s_object_needs_an_administrator(authorizer: Authorizer) -> None:
    """The target's project counts, not only the role."""
    stranger = MEMBER.model_copy(update={"project_id": "elsewhere"})
    authorizer.require("clustertemplate:update", MEMBER, TEMPLATE)
    authorizer.require("clustertemplate:update", ADMIN, TEMPLATE)
    with pytest.raises(NotAuthorizedError):
        authorizer.require("clustertemplate:update", stranger, TEMPLATE)


def test_rules_for_all_projects_bind_administrators_only(authorizer: Authorizer) -> None:
    """Who sees one project is not asked for the right to see all."""
    authorizer.require_for_all_projects("cluster:get_all_all_projects", MEMBER)
    authorizer.require_for_all_projects(
        "cluster:get_all_all_projects", authorizer.recognise_admin(ADMIN)
    )


def test_the_operator_s_file_overrides_the_defaults(tmp_path: Path) -> None:
    """A rule in the policy file replaces the default; others stay."""
    file = tmp_path / "policy.yaml"
    file.write_text('"cluster:create": "role:reader"\n')
    authorizer = Authorizer(file)
    assert authorizer.permits("cluster:create", READER)
    assert not authorizer.permits("cluster:delete", READER)


def test_a_missing_policy_file_is_a_wrong_setting(tmp_path: Path) -> None:
    """A typing error in the file's name must not silently give the defaults."""
    with pytest.raises(ConfigurationError, match="JEROBOAM_POLICY_FILE"):
        Authorizer(tmp_path / "absent.yaml")


@pytest.mark.parametrize("text", ["{", "- a list", '"cluster:create": "rule:absent or ("\n'])
def test_a_broken_policy_file_denies_or_is_a_wrong_setting(tmp_path: Path, text: str) -> None:
    """A file that cannot be understood never opens anything."""
    file = tmp_path / "policy.yaml"
    file.write_text(text)
    try:
        authorizer = Authorizer(file)
    except ConfigurationError:
        return
    assert not authorizer.permits("cluster:create", READER)


def test_a_changed_policy_file_is_read_again(tmp_path: Path) -> None:
    """An operator changes policy without restarting the service."""
    file = tmp_path / "policy.yaml"
    file.write_text('"cluster:create": "role:reader"\n')
    authorizer = Authorizer(file)
    assert authorizer.permits("cluster:create", READER)
    file.write_text('"cluster:create": "!"\n')
    later = file.stat().st_mtime + 10
    os.utime(file, (later, later))
    assert not authorizer.permits("cluster:create", READER)
