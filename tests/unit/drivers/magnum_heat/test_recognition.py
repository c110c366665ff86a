"""Clusters are recognised in what Heat shows of Magnum's stacks."""

from typing import Any

import pytest

from jeroboam.drivers.importing import ImportWish
from jeroboam.drivers.magnum_heat_v1 import families
from jeroboam.drivers.magnum_heat_v1.recognition import cluster_uuid, name_of, recognise
from jeroboam.drivers.magnum_heat_v1.records import StackRecord
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec, Identity, Status
from tests.unit.drivers.magnum_heat.shown import OUTPUTS, PARAMETERS, UUID, nodes, stack, template

OWNER = Identity(user_id="u1", project_id="p1", roles=("member",))
RESOURCES = [*nodes("kube_masters", 0), *nodes("kube_minions", 0, 1, 3)]


def record(*args: Any, **fields: Any) -> StackRecord:
    return StackRecord.of(stack(*args, **fields), RESOURCES, template())


def recognised(main: StackRecord | None = None, *groups: StackRecord) -> ClusterSpec:
    return recognise(main or record(), groups, ImportWish(stack="x"), OWNER)


def test_a_cluster_of_kubernetes() -> None:
    """uuid, name, version, sizes, flavors, keys and networks are those that Magnum gave it."""
    spec = recognised()
    cluster, template_ = spec.cluster, spec.template
    assert (cluster.uuid, cluster.name, cluster.status) == (
        UUID,
        "my-cluster",
        Status.UPDATE_COMPLETE,
    )
    assert (cluster.flavor_id, cluster.master_flavor_id) == ("m1.large", "m1.medium")
    assert (cluster.api_address, cluster.coe_version) == (
        "https://203.0.113.5:6443",
        "v1.23.3-rancher1",
    )
    assert cluster.fixed_network is None
    assert cluster.created_at.year == 2021
    assert (template_.coe, template_.image_id, template_.keypair_id) == (
        "kubernetes",
        "fedora-coreos",
        "mine",
    )
    assert template_.dns_nameserver == "8.8.8.8,1.1.1.1"
    assert (template_.master_lb_enabled, template_.floating_ip_enabled) == (True, True)
    assert [(one.role, one.node_count) for one in spec.node_groups] == [
        ("master", 1),
        ("worker", 3),
    ]
    assert spec.workers[0].node_addresses == ("203.0.113.7", "203.0.113.8")


def test_labels_are_what_somebody_has_set() -> None:
    """Parameters that are as the template has them, hidden ones and secrets are no labels."""
    assert recognised().cluster.labels == {
        "kube_tag": "v1.23.3-rancher1",
        "service_cluster_ip_range": "10.254.0.0/16",
    }


def test_servers_are_found_at_their_places() -> None:
    """Each server has the index under which its group knows it; those that went are left out."""
    found = record().of_groups(families.KUBERNETES.workers)
    assert [(one.index, one.server) for one in found] == [
        ("0", "kube_minions-0"),
        ("1", "kube_minions-1"),
        ("3", "kube_minions-3"),
    ]
    gone = [one | {"resource_status": "DELETE_COMPLETE"} for one in RESOURCES]
    assert StackRecord.of(stack(), gone).members == ()


def test_a_node_group_has_a_stack_of_its_own() -> None:
    """It gets the name and role that Magnum gave it, and the same uuid every time."""
    parameters = PARAMETERS | {
        "is_cluster_stack": "False",
        "worker_nodegroup_name": "gpu",
        "worker_role": "accelerated",
        "number_of_minions": "2",
    }
    group = record(parameters, id="22222222-0000-4000-8000-000000000002")
    first, again = recognised(None, group), recognised(None, group)
    (found,) = first.workers[1:]
    assert (found.name, found.role, found.node_count) == ("gpu", "accelerated", 2)
    assert not found.is_default
    assert [one.uuid for one in first.node_groups] == [one.uuid for one in again.node_groups]


def test_without_a_uuid_of_magnum_the_stack_gives_one() -> None:
    """The same stack has the same uuid every time."""
    main = record(PARAMETERS | {"cluster_uuid": "not one"})
    assert cluster_uuid(main) == cluster_uuid(main) != UUID


@pytest.mark.parametrize(
    ("stack_name", "name"),
    [
        ("prod-abcdefghijkl", "prod"),
        ("no-short-id", "no-short-id"),
        ("9lives-abcdefghijkl", "c9lives"),
    ],
)
def test_names(stack_name: str, name: str) -> None:
    """The short id that Magnum added to a name is taken away; a name begins with a letter."""
    assert name_of(record(stack_name=stack_name)) == name


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("number_of_minions", "number_of_minions, number_of_nodes, number_of_slaves"),
        ("master_flavor", "parameters: master_flavor"),
        ("minion_flavor", "parameters: minion_flavor"),
        ("minion_image", "minion_image or server_image"),
    ],
)
def test_what_is_missing_is_named(missing: str, words: str) -> None:
    """A stack without what a record needs is refused by the name of what is missing."""
    parameters = {key: value for key, value in PARAMETERS.items() if key != missing}
    with pytest.raises(InvalidRequestError, match=words):
        recognised(record(parameters))


def test_missing_outputs_are_named() -> None:
    """All outputs that are missing are named at once."""
    outputs = {"api_address": OUTPUTS["api_address"]}
    with pytest.raises(InvalidRequestError, match="outputs: kube_masters, kube_minions"):
        recognised(record(PARAMETERS, outputs))


@pytest.mark.parametrize(
    ("family", "parameters", "outputs"),
    [
        (
            families.SWARM,
            {"number_of_nodes": "2", "node_flavor": "s", "server_image": "atomic"},
            {"swarm_masters": ["10.0.0.1"], "swarm_nodes": ["10.0.0.2"]},
        ),
        (
            families.SWARM_MODE,
            {"number_of_nodes": "2", "node_flavor": "s", "server_image": "atomic"},
            {
                "swarm_primary_master": ["10.0.0.1"],
                "swarm_secondary_masters": [],
                "swarm_nodes": ["10.0.0.2"],
            },
        ),
        (
            families.MESOS,
            {"number_of_slaves": "2", "slave_flavor": "s", "server_image": "ubuntu-mesos"},
            {"mesos_master": ["10.0.0.1"], "mesos_slaves": ["10.0.0.2"]},
        ),
    ],
    ids=["swarm", "swarm-mode", "mesos"],
)
def test_other_engines(
    family: families.Family, parameters: dict[str, str], outputs: dict[str, Any]
) -> None:
    """Swarm, Swarm mode and Mesos are told apart by their parameters and outputs."""
    spec = recognised(record(parameters | {"master_flavor": "m"}, outputs))
    assert spec.template.coe == family.coe
    assert spec.cluster.api_address == f"{family.scheme}://10.0.0.1:{family.port}"
    assert spec.workers[0].node_count == 2
