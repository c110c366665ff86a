"""What a devcloud offers once it is up."""

import base64
import stat
import subprocess
from typing import Any

import pytest
import yaml
from cryptography.hazmat.primitives.serialization import load_ssh_private_key
from keystoneauth1.exceptions.http import Unauthorized
from keystoneauth1.session import Session
from openstack import exceptions

from devcloud import Devcloud, UsageError
from devcloud.credentials import CLOUDS, TRUSTEE_DOMAIN
from devcloud.options import PASSWORD
from tests import logins

from . import templates
from .conftest import Connect
from .stacks import Stacks, connect_to, connected, unique


def test_every_service_answers(cloud: Devcloud) -> None:
    """Status tells name, process and URL of each service."""
    found = {one.name: one for one in cloud.status()}
    expected = {"keystone", "glance", "placement", "neutron", "nova", "heat", "mistral"}
    assert set(found) == expected
    assert all(one.pid and one.answers for one in found.values())


def test_a_second_start_changes_nothing(cloud: Devcloud) -> None:
    """Start is for whatever is missing."""
    before = cloud.status()
    cloud.start()
    assert cloud.status() == before


@pytest.mark.parametrize("name", CLOUDS)
def test_every_cloud_of_clouds_yaml_can_log_in(cloud: Devcloud, name: str) -> None:
    """The file has what openstacksdk needs for each user."""
    entry = yaml.safe_load(cloud.clouds_yaml.read_text())["clouds"][name]
    assert entry["auth"] == cloud.credentials(name)
    assert entry["region_name"] == "RegionOne"
    session = connect_to(cloud, name).session
    assert logins.access_of(session).project_name == CLOUDS[name].project


def test_clouds_yaml_is_private(cloud: Devcloud) -> None:
    """Only its owner can read the passwords."""
    assert stat.S_IMODE(cloud.clouds_yaml.stat().st_mode) == 0o600


def test_env_prints_what_a_shell_understands(cloud: Devcloud) -> None:
    """The lines may be given to eval."""
    home = str(cloud.layout.home)
    printed = subprocess.run(
        ["python3", "-m", "devcloud", "env", "--home", home, "--cloud", "other-reader"],
        capture_output=True,
        text=True,
        check=True,
    )
    shell = subprocess.run(
        ["sh", "-c", f'{printed.stdout}\necho "$OS_AUTH_URL $OS_USERNAME $OS_PROJECT_NAME"'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shell.stdout.split() == [cloud.url("keystone"), "other-reader", "other"]


def test_the_catalogue_has_jeroboam(cloud: Devcloud, connect: Connect) -> None:
    """Clients find the API where it is going to listen."""
    session = connect("demo").session
    for interface in ("public", "internal", "admin"):
        found = session.get_endpoint(service_type="container-infra", interface=interface)
        assert found == f"http://127.0.0.1:{cloud.layout.settings.port_base + 11}/v1"


def test_there_is_something_to_boot(connect: Connect) -> None:
    """Images, flavors and the external network are there for every tenant."""
    other = connect("other")
    images = {image.name: image for image in other.image.images()}
    assert images["fedora-coreos"].os_distro == "fedora-coreos"
    assert images["fedora-coreos"].properties["magnum_distro"] == "fedora-coreos"
    assert images["ubuntu-kube"].os_distro == "ubuntu"
    assert images["fake-os"].properties["magnum_distro"] == "fake"
    assert images["cirros"].os_distro is None
    assert {flavor.name for flavor in other.compute.flavors()} == {
        "m1.tiny",
        "m1.small",
        "m1.medium",
    }
    public = logins.required(other.network.find_network("public"))
    assert public.is_router_external
    assert public.subnet_ids


def test_the_key_pair_fits_the_private_key(cloud: Devcloud, connect: Connect) -> None:
    """What user demo has in Nova is what lies in the home."""
    private = load_ssh_private_key(cloud.layout.demo_key.read_bytes(), None)
    stored = logins.required(connect("demo").compute.find_keypair("demo"))
    public = private.public_key().public_bytes_raw()  # type: ignore[union-attr]
    assert base64.b64decode(stored.public_key.split()[1]).endswith(public)
    assert stat.S_IMODE(cloud.layout.demo_key.stat().st_mode) == 0o600


def test_projects_do_not_see_each_other(stacks: Stacks, connect: Connect) -> None:
    """A stack of one project does not exist for another."""
    stack = stacks.create("mine", templates.empty())
    other = connect("other").orchestration
    assert stack not in {one["id"] for one in other.get("/stacks").json()["stacks"]}
    assert other.get(f"/stacks/{stack}").status_code == 404
    assert other.get("/stacks?global_tenant=True").status_code == 403


@pytest.mark.parametrize("name", ["admin", "jeroboam", "demo-admin"])
def test_role_admin_lists_the_stacks_of_all_projects(
    stacks: Stacks, connect: Connect, name: str
) -> None:
    """The policy has been opened as an operator would open it for Jeroboam."""
    stack = stacks.create("one-of-many", templates.empty())
    found = connect(name).orchestration.get("/stacks?global_tenant=True").json()["stacks"]
    assert stack in {one["id"] for one in found}


def test_a_reader_only_reads(stacks: Stacks, connect: Connect) -> None:
    """Role reader sees its project and changes nothing."""
    stack = stacks.create("read", templates.empty())
    reader = connect("demo-reader")
    assert reader.orchestration.get(f"/stacks/{stack}").status_code in (200, 302)
    body = {"stack_name": "no", "template": templates.empty()}
    assert reader.orchestration.post("/stacks", json=body).status_code == 403
    with pytest.raises(exceptions.ForbiddenException):
        reader.network.create_network(name="no")


def test_the_service_user_administers_a_domain(cloud: Devcloud) -> None:
    """It can make and remove users there, and tenants cannot even log in to it."""
    options = {**logins.NO_PROJECT, "domain_name": TRUSTEE_DOMAIN}
    users: Any = connected(logins.password(cloud, "jeroboam", **options)).identity
    domain = logins.required(users.find_domain(TRUSTEE_DOMAIN)).id
    made = users.create_user(name=unique("program"), domain_id=domain, password=PASSWORD)
    assert made.id in {one.id for one in users.users(domain_id=domain)}
    users.delete_user(made)
    with pytest.raises(Unauthorized):
        Session(logins.password(cloud, "demo", **options)).get_token()


def test_unknown_names_are_refused(cloud: Devcloud) -> None:
    """A typing error is answered with the names that exist."""
    with pytest.raises(UsageError, match="demo-reader"):
        cloud.credentials("nobody")
    with pytest.raises(UsageError, match="placement"):
        cloud.stop_service("cinder")
    with pytest.raises(UsageError, match="jeroboam"):
        cloud.url("cinder")
