"""Clusters whose programs call the cloud get these programs, and the account they need."""

from dataclasses import replace
from pathlib import PurePath
from typing import Any

import pytest
import yaml

from jeroboam.drivers.base import CloudAccount, DriverContext, SupportsCloudAccount
from jeroboam.drivers.k8s_ansible_v1.driver import AnsibleDriver
from jeroboam.drivers.k8s_mistral_v1.driver import MistralDriver
from jeroboam.drivers.k8s_senlin_v1.driver import SenlinDriver
from jeroboam.drivers.kubernetes import contents
from jeroboam.drivers.kubernetes.plan import KubernetesPlan
from jeroboam.drivers.magnum_heat_v1.driver import MagnumHeatDriver
from jeroboam.drivers.nodes import manifest
from jeroboam.drivers.servers.driver import ServersDriver
from jeroboam.drivers.swarm_fedora_atomic_v1.driver import SwarmFedoraAtomicDriver
from jeroboam.errors import ClusterUnreachableError, InvalidRequestError
from jeroboam.models import ClusterSpec
from tests.fakes import NoCloud
from tests.unit.drivers.heat.accounts import (
    ACCOUNT,
    CINDER,
    CLOUD_PROVIDER,
    with_account,
    with_programs,
)
from tests.unit.drivers.heat.clusters import make_spec, secrets
from tests.unit.drivers.heat.nodes import DRIVERS

ABLE = (*DRIVERS.values(), AnsibleDriver, MistralDriver, SenlinDriver)
OTHER = replace(ACCOUNT, user_id="other", password="another", trust_id="again")
ROLES = ("master", "worker")


def texts(spec: ClusterSpec, role: str = "master") -> dict[str, str]:
    """Return what nodes of a role get."""
    group = next(group for group in spec.node_groups if group.role == role)
    return dict(contents.generate(KubernetesPlan.of(spec, group), with_account(), group))


def kubelet_flags(spec: ClusterSpec, role: str) -> dict[str, str]:
    """Return the flags of the kubelets of a role."""
    (document,) = yaml.safe_load_all(texts(spec, role)["kubeadm_join"])
    listed = document["nodeRegistration"]["kubeletExtraArgs"]
    return {flag["name"]: flag["value"] for flag in listed}


def context(account: CloudAccount | None = ACCOUNT) -> DriverContext:
    return DriverContext("c:o:s", NoCloud(), lambda: with_account(account))


@pytest.mark.parametrize("driver", ABLE, ids=lambda driver: driver.name)
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, False),
        ({"template": CINDER}, True),
        ({"template": CINDER, "labels": {"cinder_csi_enabled": "false"}}, False),
        ({"labels": {"cinder_csi_enabled": "true"}}, False),
        ({"labels": CLOUD_PROVIDER}, True),
        ({"labels": {"cloud_provider_enabled": "false"}}, False),
    ],
)
def test_who_needs_an_account(
    driver: type[SupportsCloudAccount], fields: dict[str, Any], *, expected: bool
) -> None:
    """Clusters with a cloud controller manager, or with Cinder as volume driver."""
    assert driver().needs_cloud_account(make_spec(**fields)) is expected


def test_other_drivers_have_no_account() -> None:
    """Neither those that do not set up the cluster themselves, nor other engines."""
    for driver in (MagnumHeatDriver, SwarmFedoraAtomicDriver):
        assert not issubclass(driver, SupportsCloudAccount)


@pytest.mark.parametrize("role", ROLES)
def test_no_account(role: str) -> None:
    """Nodes that need an account are not made without one, and the message says what to do."""
    spec = with_programs()
    group = next(group for group in spec.node_groups if group.role == role)
    with pytest.raises(InvalidRequestError, match=r"cloud_provider_enabled .* JEROBOAM_TRUSTEE"):
        contents.generate(KubernetesPlan.of(spec, group), secrets(), group)


def test_kubelets_know_of_the_cloud_provider() -> None:
    """All of them wait for the cloud controller manager, where there is one."""
    for role in ROLES:
        assert kubelet_flags(with_programs(), role)["cloud-provider"] == "external"
        assert "cloud-provider" not in kubelet_flags(make_spec(template=CINDER), role)
    init = next(yaml.safe_load_all(texts(with_programs())["kubeadm_init"]))
    flags = init["nodeRegistration"]["kubeletExtraArgs"]
    assert {"name": "cloud-provider", "value": "external"} in flags


def test_manifests_are_those_of_the_tags() -> None:
    """The URLs name the releases, and are empty for what is not wanted."""
    plan = KubernetesPlan.of(
        with_programs(
            labels={
                "cloud_provider_tag": "v1.35.0",
                "cinder_csi_manifest_url": "https://files/{tag}/csi/",
            }
        )
    )
    assert plan.cloud_provider_url.endswith("/v1.35.0/manifests/controller-manager")
    assert plan.cinder_csi_url == "https://files/v1.36.0/csi"
    assert not KubernetesPlan.of(make_spec(labels=CLOUD_PROVIDER)).cinder_csi_url
    assert not KubernetesPlan.of(make_spec(template=CINDER)).cloud_provider_url


def test_storage_class() -> None:
    """Claims that name no class get volumes of Cinder."""
    document = yaml.safe_load(texts(with_programs())["storage_class"])
    assert document["metadata"]["annotations"] == {
        "storageclass.kubernetes.io/is-default-class": "true"
    }
    assert document["provisioner"] == "cinder.csi.openstack.org"
    assert document["parameters"] == {"csi.storage.k8s.io/fstype": "ext4"}
    assert document["reclaimPolicy"] == "Delete"
    assert document["volumeBindingMode"] == "WaitForFirstConsumer"
    assert document["allowVolumeExpansion"] is True
    assert texts(make_spec(labels=CLOUD_PROVIDER))["storage_class"] == ""


def test_storage_class_of_labels() -> None:
    """Labels say what its volumes are like."""
    labels = {
        "csi_cinder_availability_zone": "az2",
        "csi_cinder_reclaim_policy": "Retain",
        "csi_cinder_volume_binding_mode": "Immediate",
        "csi_cinder_fstype": "xfs",
        "csi_cinder_allow_volume_expansion": "false",
    }
    document = yaml.safe_load(texts(with_programs(labels=labels))["storage_class"])
    assert document["parameters"] == {"csi.storage.k8s.io/fstype": "xfs", "availability": "az2"}
    assert document["reclaimPolicy"] == "Retain"
    assert document["volumeBindingMode"] == "Immediate"
    assert document["allowVolumeExpansion"] is False


@pytest.mark.parametrize("driver", DRIVERS.values(), ids=lambda driver: driver.name)
def test_another_account_sets_up_no_node(driver: type[Any]) -> None:
    """The digest that tells whether nodes are up to date does not depend on the account."""
    spec = with_programs()
    for group in spec.node_groups:
        one, other = (driver().setup(context(one), spec, group) for one in (ACCOUNT, OTHER))
        assert one.release == other.release
        assert (one.user_data == other.user_data) is (group.role == "worker")
    plain = make_spec()
    masters = plain.masters
    assert driver().setup(context(), plain, masters) == driver().setup(
        context(None), plain, masters
    )


@pytest.mark.parametrize("driver", [AnsibleDriver, MistralDriver, SenlinDriver])
@pytest.mark.parametrize("role", ROLES)
def test_nodes_of_other_engines(driver: type[ServersDriver], role: str) -> None:
    """Servers that other engines make are set up from the same files."""
    spec = with_programs()
    node = manifest.read(driver.source, role, {**texts(spec, role), "signal": "x"})
    found = {PurePath(file.path).name for file in node.files}
    added = {"cloud.conf", "cloud.env", "cloud.sh", "storage-class.yaml"}
    assert found & added == (added if role == "master" else set())
    assert "password=" in "".join(file.text for file in node.files) or role == "worker"


def test_hand_over_without_an_address() -> None:
    """A cluster that never came up cannot be handed anything."""
    spec = with_programs(api_address=None)
    with pytest.raises(ClusterUnreachableError):
        DRIVERS["k8s_ubuntu_v1"]().hand_over_account(context(), spec)
    with pytest.raises(InvalidRequestError, match="has none"):
        DRIVERS["k8s_ubuntu_v1"]().hand_over_account(context(None), spec)
