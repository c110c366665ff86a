"""Moves of a living cluster: what is possible is let through, the rest is refused with reasons."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.k8s_fedora_coreos_v1.driver import FedoraCoreosDriver
from jeroboam.drivers.kubernetes import labels, moves
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec, Node
from tests.unit.drivers.heat.accounts import CINDER, CLOUD_PROVIDER
from tests.unit.drivers.heat.clusters import make_spec

DRIVER = FedoraCoreosDriver()
VERSIONS = st.tuples(st.just(1), st.integers(20, 60), st.integers(0, 30))


def cluster(tag: str = "v1.37.1", **fields: Any) -> ClusterSpec:
    given_labels = {"kube_tag": tag, "etcd_volume_size": "5", **fields.pop("labels", {})}
    group = {"labels": given_labels, "image_id": "old", **fields.pop("group", {})}
    return make_spec(uuid="c", labels=given_labels, group=group, **fields)


def retagged(spec: ClusterSpec, tag: str, *names: str) -> ClusterSpec:
    """Return the cluster with another version for some groups, or all."""
    groups = tuple(
        group.model_copy(update={"labels": {**group.labels, "kube_tag": tag}})
        if not names or group.name in names
        else group
        for group in spec.node_groups
    )
    moved = {**spec.cluster.labels, "kube_tag": tag}
    changed = spec.cluster.model_copy(update={"labels": moved})
    return spec.model_copy(update={"cluster": changed, "node_groups": groups})


def refusal(spec: ClusterSpec, target: ClusterSpec) -> str:
    with pytest.raises(InvalidRequestError) as caught:
        DRIVER.check_upgrade(spec, target)
    return caught.value.message


@given(VERSIONS, VERSIONS)
def test_one_minor_version_at_a_time(old: tuple[int, ...], new: tuple[int, ...]) -> None:
    """An upgrade goes up, by one minor version at most, whatever the patch."""
    before, after = (f"v{one[0]}.{one[1]}.{one[2]}" for one in (old, new))
    spec = cluster(before)
    target = retagged(spec, after)
    if old <= new and new[1] - old[1] <= 1:
        DRIVER.check_upgrade(spec, target)
        return
    message = refusal(spec, target)
    assert before in message
    assert after in message
    assert f"v1.{old[1] + 1}" in message


def test_direction_is_named() -> None:
    """The message says whether the version is too low or too far away."""
    spec = cluster()
    assert "cannot go down to v1.36.9" in refusal(spec, retagged(spec, "v1.36.9"))
    assert "cannot go to v1.39.0 in one step" in refusal(spec, retagged(spec, "v1.39.0"))


def test_workers_follow_the_masters() -> None:
    """A group of workers alone cannot become newer than the control plane."""
    spec = cluster()
    message = refusal(spec, retagged(spec, "v1.38.0", "default-worker"))
    assert "newer than the control plane's v1.37.1. Upgrade the masters first" in message
    DRIVER.check_upgrade(spec, retagged(spec, "v1.38.0", "default-master"))


def test_workers_must_not_fall_behind() -> None:
    """Kubernetes bears nodes that are three minor versions older, not four."""
    spec = retagged(cluster("v1.37.1"), "v1.34.0", "default-worker")
    message = refusal(spec, retagged(spec, "v1.38.0", "default-master"))
    assert "v1.34.0, too old" in message
    assert "v1.35 or later" in message


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"template": {"coe": "swarm"}}, "coe is 'kubernetes' and would become 'swarm'"),
        ({"template": {"server_type": "bm"}}, "server_type"),
        ({"template": {"network_driver": "calico"}}, "network_driver is 'flannel'"),
        ({"template": {"cluster_distro": "ubuntu"}}, "cluster_distro"),
        ({"template": {"apiserver_port": 8443}}, "apiserver_port is not set"),
        ({"template": {"external_network_id": "other"}}, "external_network_id"),
        ({"labels": {"fixed_subnet_cidr": "10.9.0.0/24"}}, "fixed_subnet_cidr"),
        ({"labels": {"flannel_network_cidr": "10.9.0.0/16"}}, "flannel_network_cidr"),
        ({"labels": {"cloud_provider_enabled": "true"}}, "lacks a cloud controller manager and"),
        ({"template": {"volume_driver": "cinder"}}, "lacks Cinder's CSI driver and would get it"),
        ({"labels": {"csi_cinder_fstype": "xfs"}}, "csi_cinder_fstype is 'ext4'"),
        ({"labels": {"etcd_volume_size": "9"}}, "etcd_volume_size is '5' and would become '9'"),
    ],
)
def test_what_an_upgrade_cannot_change(fields: dict[str, Any], words: str) -> None:
    """What the cluster was built with stays; the message has both values and the remedy."""
    message = refusal(cluster(), cluster("v1.38.0", **fields))
    assert words in message
    assert "Choose a template that has the same" in message


@pytest.mark.parametrize(
    "fields",
    [
        {"labels": {"cloud_provider_enabled": "false"}, "template": CINDER},
        {"labels": {**CLOUD_PROVIDER, "cinder_csi_enabled": "false"}, "template": CINDER},
        {"labels": CLOUD_PROVIDER},
        {},
    ],
)
def test_programs_that_call_the_cloud_stay(fields: dict[str, Any]) -> None:
    """A cluster that was founded with them keeps them, and with them its account."""
    spec = cluster(labels=CLOUD_PROVIDER, template=CINDER)
    message = refusal(spec, cluster("v1.38.0", **fields))
    assert "would lose it, which an upgrade cannot change" in message
    assert "cloud_provider_enabled and cinder_csi_enabled" in message


def test_other_versions_of_programs() -> None:
    """Their versions and places may change; a first master that is set up anew installs them."""
    new = {"cloud_provider_tag": "v1.37.0", "cinder_csi_manifest_url": "https://files"}
    target = cluster(labels={**CLOUD_PROVIDER, **new}, template=CINDER)
    DRIVER.check_upgrade(cluster(labels=CLOUD_PROVIDER, template=CINDER), target)


def test_other_image_and_containers() -> None:
    """Images and the versions of components may change with the version or without it."""
    spec = cluster()
    DRIVER.check_upgrade(spec, cluster(group={"image_id": "new"}))
    DRIVER.check_upgrade(spec, cluster(labels={"crictl_tag": "v1.38.0"}))


@pytest.mark.parametrize(
    ("masters", "volume", "words"),
    [(1, "", "would lose the state"), (2, "", "one of two masters"), (3, "", ""), (1, "5", "")],
)
def test_masters_are_replaced_where_the_state_survives(
    masters: int, volume: str, words: str
) -> None:
    """Setting masters up anew needs a majority that stays, or a volume that does."""
    spec = cluster(masters=masters, master_lb_enabled=True, labels={"etcd_volume_size": volume})
    node = Node(name="m", id="1")
    group = spec.masters.model_copy(update={"nodes": (node,)})
    spec = spec.model_copy(update={"node_groups": (group, *spec.workers)})
    target = retagged(spec, "v1.38.0")
    if not words:
        DRIVER.check_upgrade(spec, target)
        DRIVER.check_rebuild(spec, [node])
        return
    assert words in refusal(spec, target)
    other_files = spec.cluster.model_copy(update={"driver_files": "another digest"})
    assert words in refusal(spec, spec.model_copy(update={"cluster": other_files}))
    with pytest.raises(InvalidRequestError, match=words):
        DRIVER.check_rebuild(spec, [node])
    DRIVER.check_upgrade(spec, retagged(spec, "v1.37.2", "default-worker"))
    DRIVER.check_rebuild(spec, [Node(name="w", id="2")])


@pytest.mark.parametrize(
    ("before", "after", "balanced", "words"),
    [
        (1, 3, True, ""),
        (3, 5, True, ""),
        (3, 3, True, ""),
        (3, 1, True, "cannot shrink from 3 to 1"),
        (1, 2, True, "Choose 1 or 3"),
        (1, 3, False, "master_lb_enabled"),
    ],
)
def test_size_of_the_control_plane(before: int, after: int, words: str, *, balanced: bool) -> None:
    """The control plane grows to odd numbers behind a load balancer, and never shrinks."""
    spec = cluster(masters=before, master_lb_enabled=balanced)
    if not words:
        DRIVER.check_resize(spec, spec.masters, after)
        return
    with pytest.raises(InvalidRequestError, match=words):
        DRIVER.check_resize(spec, spec.masters, after)


@given(st.integers(0, 500))
def test_workers_have_any_size(count: int) -> None:
    """Nothing limits the number of workers."""
    spec = make_spec()
    DRIVER.check_resize(spec, spec.workers[0], count)


def test_node_group() -> None:
    """A group has a role, a flavor and labels of its own; the cluster's labels are not its."""
    spec = make_spec(labels={"kube_tag": "v1.37.1"})
    group = spec.workers[0].model_copy(update={"is_default": False, "name": "gpu"})
    for changes in ({}, {"labels": {"kubelet_options": "--v=4", "boot_volume_size": "20"}}):
        DRIVER.check_node_group(spec, group.model_copy(update=changes))
    refused: list[tuple[dict[str, Any], str]] = [
        ({"role": "master"}, "control plane is one group"),
        ({"flavor_id": None}, "Set flavor_id"),
        ({"labels": {"service_cluster_ip_range": "10.1.0.0/16"}}, "holds for the whole cluster"),
        ({"labels": {"nonsense": "1"}}, "not known"),
    ]
    for changes, words in refused:
        with pytest.raises(InvalidRequestError, match=words):
            DRIVER.check_node_group(spec, group.model_copy(update=changes))


def test_new_group_is_not_newer_than_the_masters() -> None:
    """The version of a new group is looked at like that of an upgraded one."""
    spec = make_spec(labels={"kube_tag": "v1.37.1"})
    changes = {"is_default": False, "labels": {"kube_tag": "v1.38.0"}, "uuid": "g"}
    group = spec.workers[0].model_copy(update=changes)
    target = spec.model_copy(update={"node_groups": (*spec.node_groups, group)})
    with pytest.raises(InvalidRequestError, match="newer than the control plane"):
        DRIVER.check_node_group(target, group)


def test_labels_of_the_rules_exist() -> None:
    """The rules name labels that the driver has."""
    known = set(labels.TABLE.labels)
    assert set(moves.FIXED_LABELS) <= known
    assert known >= moves.OF_GROUPS
