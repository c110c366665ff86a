"""Policy files of operators who come from Magnum."""

import os
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from jeroboam.api.http.authorization import Authorizer
from jeroboam.errors import ConfigurationError
from jeroboam.models import Cluster, Identity

FILES = Path(__file__).parent / "policy"

CLUSTER = Cluster(
    name="c", project_id="p", user_id="owner", cluster_template_id="t", driver="fake",
    driver_version="1", cloud="cloud",
)  # fmt: skip

BLOCKS = """
admin_api admin_or_owner admin_or_project_member admin_or_project_member_cluster_user
admin_or_project_member_deny_cluster_user admin_or_project_member_user
admin_or_project_member_user_or_cluster_user admin_or_project_reader
admin_or_project_reader_deny_cluster_user admin_or_project_reader_user
admin_or_project_reader_user_or_cluster_user admin_or_user admin_or_user_or_cluster_user
cluster_user context_is_admin deny_cluster_user is_user project_member
project_member_deny_cluster_user project_reader project_reader_deny_cluster_user
user_or_cluster_user
"""
"""The building blocks of Magnum's releases from Queens to 2026.1."""

RULES = """
certificate:create certificate:get certificate:rotate_ca cluster:create cluster:delete
cluster:delete_all_projects cluster:detail cluster:detail_all_projects cluster:get
cluster:get_all cluster:get_all_all_projects cluster:get_one_all_projects cluster:resize
cluster:update cluster:update_all_projects cluster:update_health_status cluster:upgrade
cluster:upgrade_all_projects clustertemplate:create clustertemplate:delete
clustertemplate:delete_all_projects clustertemplate:detail clustertemplate:detail_all_projects
clustertemplate:get clustertemplate:get_all clustertemplate:get_all_all_projects
clustertemplate:get_one_all_projects clustertemplate:publish clustertemplate:update
clustertemplate:update_all_projects credential:rotate federation:create federation:delete
federation:detail federation:get federation:get_all federation:update magnum-service:get_all
nodegroup:create nodegroup:delete nodegroup:get nodegroup:get_all
nodegroup:get_all_all_projects nodegroup:get_one_all_projects nodegroup:update quota:create
quota:delete quota:get quota:get_all quota:update stats:get_all
"""
"""The rules of Magnum's release 2026.1."""


def person(*roles: str, user: str = "u", project: str = "p", **fields: str) -> Identity:
    return Identity(user_id=user, project_id=project, roles=roles, **fields)


def in_file(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "policy.yaml"
    file.write_text(text)
    return file


def rewritten(file: Path, text: str) -> None:
    file.write_text(text)
    later = file.stat().st_mtime + 10
    os.utime(file, (later, later))


def test_every_name_of_magnum_is_there() -> None:
    """A file may override, or refer to, whatever Magnum has or had."""
    names = {rule.name for rule in Authorizer().defaults}
    assert names >= {*BLOCKS.split(), *RULES.split()}


def test_a_file_of_the_releases_with_the_new_roles() -> None:
    """Each of its lines means what it meant in Magnum, and none is taken for a slip."""
    with capture_logs() as logs:
        authorizer = Authorizer(FILES / "operator-17-to-22.yaml")
        authorizer.put_drivers_rules(())
    assert logs == []
    operator = authorizer.recognise_admin(person("cloud_operator", project="elsewhere"))
    assert operator.is_admin
    assert authorizer.permits("cluster:create", person("k8s_admin"))
    assert not authorizer.permits("cluster:create", person("member", "reader"))
    assert authorizer.permits("cluster:delete", person("k8s_admin"), CLUSTER)
    assert not authorizer.permits("cluster:delete", person("k8s_admin", project="q"), CLUSTER)
    assert authorizer.permits("cluster:delete", operator, CLUSTER)
    assert authorizer.permits("cluster:update_health_status", person(user="owner"), CLUSTER)
    assert not authorizer.permits("cluster:update_health_status", person(user="u"), CLUSTER)
    assert authorizer.permits("cluster:get", person("_member_"), CLUSTER)
    assert not authorizer.permits("nodegroup:get", person("_member_"), CLUSTER)
    assert authorizer.permits("certificate:create", person("_member_"), CLUSTER)
    assert authorizer.permits(
        "clustertemplate:publish", person(user_domain_name="operators"), CLUSTER
    )
    assert not authorizer.permits("clustertemplate:publish", person("member"), CLUSTER)
    assert authorizer.permits("magnum-service:get_all", operator)
    assert not authorizer.permits("magnum-service:get_all", person("member"))
    assert authorizer.permits("quota:get", person())
    assert authorizer.permits("stats:get_all", person())
    assert not authorizer.permits("federation:create", operator)


def test_a_file_of_the_time_before_policy_in_code() -> None:
    """Old JSON with lists and the rule ``default`` works; what bays were is named as unused."""
    with capture_logs() as logs:
        authorizer = Authorizer(FILES / "operator-pike.json")
        authorizer.put_drivers_rules(())
    assert {entry["rule"] for entry in logs} == {"bay:create", "baymodel:create"}
    assert authorizer.permits("cluster:create", person("_member_"))
    assert authorizer.permits("cluster:get", person("auditor", project="q"), CLUSTER)
    assert not authorizer.permits("cluster:get", person("member", project="q"), CLUSTER)
    assert authorizer.permits("certificate:create", person(user="owner"), CLUSTER)
    assert not authorizer.permits("certificate:create", person("member"), CLUSTER)


@pytest.mark.parametrize("rule", ["cluster:get", "cluster:create", "nodegroup:get"])
def test_roles_of_old_need_a_line(tmp_path: Path, rule: str) -> None:
    """Without the new roles nothing is allowed until the file says so, as in Magnum."""
    assert not Authorizer().permits(rule, person("_member_"), CLUSTER)
    blocks = (
        *("admin_or_project_reader", "admin_or_project_member"),
        *("admin_or_project_reader_deny_cluster_user", "admin_or_project_member_deny_cluster_user"),
    )
    text = "\n".join(f'"{block}": "rule:admin_or_owner"' for block in blocks)
    authorizer = Authorizer(in_file(tmp_path, text))
    assert authorizer.permits(rule, person("_member_"), CLUSTER)
    assert not authorizer.permits(rule, person("_member_", project="q"), CLUSTER)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "cannot be read"),
        ("- a list", "no mapping"),
        ('"cluster:create": "rule:admin_api or ("', "'cluster:create'.*cannot be understood"),
        ('"cluster:create": "admin"', "cannot be understood"),
        ('"cluster:create": "role:a and nonsense"', "cannot be understood"),
        ('"cluster:create":', "no check"),
        ('"cluster:create": true', "no check"),
        ('"cluster:create": []', "no check"),
        ("7: role:member", "names are text"),
        ('"cluster:create": "rule:admn_api"', "'rule:admn_api'.*neither there"),
        ('"a": "rule:b"\n"b": "rule:a"', "refers to itself"),
        ('"cluster:create": "rule:cluster:create"', "refers to itself"),
    ],
)
def test_a_slip_stops_the_start(tmp_path: Path, text: str, words: str) -> None:
    """A file that would not do what it says is named with the rule, and opens nothing."""
    with pytest.raises(ConfigurationError, match=words) as caught:
        Authorizer(in_file(tmp_path, text))
    assert str(tmp_path / "policy.yaml") in caught.value.message
    assert "\n" not in caught.value.message


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    """Bytes of another kind are an error as well."""
    file = tmp_path / "policy.yaml"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        Authorizer(file)


def test_an_empty_file_overrides_nothing(tmp_path: Path) -> None:
    """As the one that packages install, in which every line is a comment."""
    authorizer = Authorizer(in_file(tmp_path, "# nothing\n"))
    assert authorizer.permits("cluster:create", person("member"))


def test_a_misspelt_rule_is_named_once(tmp_path: Path) -> None:
    """The log has the name, and the one that was meant; not again with each request."""
    file = in_file(
        tmp_path, '"cluster:crate": "role:x"\n"mine": "role:y"\n"quota:get": "rule:mine"'
    )
    with capture_logs() as logs:
        authorizer = Authorizer(file)
        authorizer.put_drivers_rules(())
        authorizer.permits("cluster:create", person("member"))
        authorizer.put_drivers_rules(())
    assert [(one["event"], one["rule"], one["meant"]) for one in logs] == [
        ("policy_rule_unknown", "cluster:crate", "cluster:create")
    ]


def test_a_broken_change_is_refused(tmp_path: Path) -> None:
    """While a file is broken its last good state holds; mended, it counts again."""
    file = in_file(tmp_path, '"cluster:create": "role:builder"')
    authorizer = Authorizer(file)
    with capture_logs() as logs:
        for text in ("{", '"cluster:create": "rule:nowhere"'):
            rewritten(file, text)
            assert authorizer.permits("cluster:create", person("builder"))
            assert not authorizer.permits("cluster:create", person("member"))
    assert [one["event"] for one in logs] == ["policy_file_refused"] * 2
    rewritten(file, '"cluster:create": "role:mason"')
    file.touch()
    assert authorizer.permits("cluster:create", person("mason"))
    assert not authorizer.permits("cluster:create", person("builder"))


def test_a_file_that_goes_away_holds_on(tmp_path: Path) -> None:
    """Removing the file is no way to have the defaults back by accident."""
    file = in_file(tmp_path, '"cluster:create": "role:builder"')
    authorizer = Authorizer(file)
    file.unlink()
    assert not authorizer.permits("cluster:create", person("member"))
    assert authorizer.permits("cluster:create", person("builder"))
