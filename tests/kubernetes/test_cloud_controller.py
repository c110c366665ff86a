"""A real cloud controller logs in with what a cluster gets, and looks after a node in the cloud."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from keystoneauth1.session import Session
from openstack.connection import Connection

from devcloud import Devcloud
from devcloud.credentials import TRUSTEE_DOMAIN
from jeroboam import accounts, certificates
from jeroboam.accounts import Accounts
from jeroboam.cloud import Cloud
from jeroboam.drivers.base import CloudAccount
from jeroboam.drivers.kubernetes import cloud_conf
from jeroboam.drivers.kubernetes.plan import KubernetesPlan
from tests import logins
from tests.conftest import devcloud_of
from tests.kubernetes.conftest import running_plane
from tests.kubernetes.control_plane import ControlPlane
from tests.unit.drivers.heat.clusters import make_spec

pytestmark = pytest.mark.timeout(600)

NODE = f"demo-{uuid4()}-master-0"
"""Of several machines of one name the controller takes none."""

AWKWARD = 'a "b" \\c #d ;e %f\tg [é]='
"""What the controller's own reader of ``cloud.conf`` must give back as it was."""

TAINT = "node.cloudprovider.kubernetes.io/uninitialized"
TIMEOUT = 60.0
PATIENCE_SECONDS = 90


@pytest.fixture(scope="module")
def openstack() -> Iterator[Devcloud]:
    devcloud = devcloud_of("full")
    devcloud.start()
    yield devcloud
    devcloud.stop()


@pytest.fixture(scope="module")
def demo(openstack: Devcloud) -> Connection:
    session = Session(logins.password(openstack, "demo"), timeout=TIMEOUT)
    return Connection(session=session, region_name="RegionOne")


@pytest.fixture(scope="module")
def account(openstack: Devcloud, demo: Connection) -> Iterator[CloudAccount]:
    """What a cluster of user demo would get."""
    cluster_id = str(uuid4())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OS_CLIENT_CONFIG_FILE", str(openstack.clouds_yaml))
        access = Cloud("jeroboam", timeout_seconds=TIMEOUT)
    owner: Any = demo.session
    trust_id = access.create_trust(logins.token_of(owner), logins.identity_of(owner))
    domain = Accounts(access, TRUSTEE_DOMAIN)
    name = accounts.user_name(cluster_id, "first")
    yield domain.make(name, f"{accounts.new_password()}{AWKWARD}", trust_id)
    domain.remove(cluster_id)
    access.delete_trust(trust_id)


@pytest.fixture(scope="module")
def server(demo: Connection) -> Iterator[Any]:
    """A machine of the name of the node."""
    network = demo.network.create_network(name="controller")
    demo.network.create_subnet(network_id=network.id, cidr="10.8.0.0/24", ip_version=4)
    made = demo.compute.create_server(
        name=NODE,
        image_id=demo.image.find_image("ubuntu-kube", ignore_missing=False).id,
        flavor_id=demo.compute.find_flavor("m1.tiny", ignore_missing=False).id,
        networks=[{"uuid": network.id}],
    )
    try:
        yield demo.compute.wait_for_server(made)
    finally:
        demo.compute.delete_server(made)
        demo.compute.wait_for_delete(made)
        demo.network.delete_network(network.id)


def looked_after(plane: ControlPlane) -> dict[str, Any]:
    """Wait until the controller has taken its mark from the node; return the node."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        with plane.api() as api:
            node = api.get(f"/api/v1/nodes/{NODE}")
        if TAINT not in [one["key"] for one in node["spec"].get("taints") or ()]:
            return node
        time.sleep(0.5)
    raise AssertionError(plane.logs())


def test_a_node_is_found_in_the_cloud(
    programs: Path, tmp_path: Path, account: CloudAccount, server: Any
) -> None:
    """The controller knows the node's machine and addresses, and lets pods onto it."""
    spec = make_spec(labels={"cloud_provider_enabled": "true"})
    conf = tmp_path / "cloud.conf"
    conf.write_text(cloud_conf.generate(KubernetesPlan.of(spec), account))
    secrets = certificates.issue_cluster_secrets("demo")
    plane = ControlPlane(programs, tmp_path, secrets)
    with running_plane(plane):
        with plane.api() as api:
            taints = [{"key": TAINT, "value": "true", "effect": "NoSchedule"}]
            api.create("/api/v1/nodes", {"metadata": {"name": NODE}, "spec": {"taints": taints}})
        plane.run_cloud_controller(conf, spec.cluster.uuid)

        node = looked_after(plane)
        assert node["spec"]["providerID"].endswith(f"/{server.id}")
        known = {one["address"] for one in node["status"]["addresses"]}
        (address,) = server.addresses["controller"]
        assert known >= {address["addr"]}
        log = (tmp_path / "openstack-cloud-controller-manager.log").read_text()
        assert account.password not in log
