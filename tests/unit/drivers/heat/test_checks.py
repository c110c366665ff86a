"""What cannot become a cluster is refused before anything is built."""

from typing import Any

import pytest

from jeroboam.drivers.k8s_fedora_coreos_v1.driver import FedoraCoreosDriver
from jeroboam.errors import InvalidRequestError
from tests.unit.drivers.heat.clusters import make_spec

DRIVER = FedoraCoreosDriver()


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"masters": 3, "master_lb_enabled": True},
        {"workers": 0},
        {"template": {"network_driver": "calico"}},
        {
            "floating_ip_enabled": False,
            "fixed_network": "n",
            "template": {"external_network_id": None},
        },
        {"template": {"http_proxy": "http://proxy:3128", "no_proxy": "10.0.0.0/8, .example.org"}},
        {"template": {"insecure_registry": "registry.example.org:5000"}},
        {"template": {"docker_storage_driver": "overlay2"}},
        {"template": {"volume_driver": "cinder"}},
        {"template": {"volume_driver": ""}, "labels": {"cloud_provider_enabled": "true"}},
        {"fixed_network": "n", "labels": {"fixed_subnet_cidr": "10.100.0.0/24"}},
    ],
)
def test_accepted(fields: dict[str, Any]) -> None:
    """Sound settings pass."""
    DRIVER.validate(make_spec(**fields))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"template": {"network_driver": "weave"}},
            "network_driver is 'weave'.*calico and flannel",
        ),
        (
            {"labels": {"flannel_network_cidr": "10.254.128.0/17"}},
            "flannel_network_cidr .*service_cluster_ip_range .*overlap",
        ),
        (
            {"labels": {"fixed_subnet_cidr": "10.100.3.0/24"}},
            "flannel_network_cidr .*fixed_subnet_cidr .*overlap",
        ),
        (
            {
                "labels": {"calico_ipv4pool": "10.0.0.0/16"},
                "template": {"network_driver": "calico"},
            },
            "calico_ipv4pool .*overlap",
        ),
        ({"labels": {"service_cluster_ip_range": "10.1.0.0/29"}}, "too small"),
        ({"labels": {"flannel_network_cidr": "10.8.0.0/24"}}, "flannel_network_subnetlen is 24"),
        ({"fixed_subnet": "s"}, "fixed_subnet is set without fixed_network"),
        ({"fixed_network": "n", "master_lb_enabled": True}, "Set fixed_subnet"),
        ({"template": {"external_network_id": None}}, "external_network_id is needed"),
        (
            {
                "floating_ip_enabled": False,
                "master_lb_enabled": True,
                "labels": {"master_lb_floating_ip_enabled": "true"},
                "template": {"external_network_id": None},
            },
            "external_network_id is needed",
        ),
        (
            {"floating_ip_enabled": False, "template": {"external_network_id": None}},
            "network of their own",
        ),
        ({"template": {"tls_disabled": True}}, "tls_disabled"),
        ({"template": {"registry_enabled": True}}, "registry_enabled"),
        (
            {"template": {"volume_driver": "rexray"}},
            "volume_driver is 'rexray'; this driver knows cinder. Set that or nothing",
        ),
        ({"template": {"docker_storage_driver": "devicemapper"}}, "docker_storage_driver"),
        ({"template": {"http_proxy": "http://x' ; rm -rf /"}}, "http_proxy"),
        ({"template": {"no_proxy": "a\nb"}}, "no_proxy"),
        ({"template": {"insecure_registry": "../../x"}}, "insecure_registry"),
        ({"group": {"flavor_id": None}}, "has no flavor"),
    ],
)
def test_refused(fields: dict[str, Any], message: str) -> None:
    """Each mistake is refused with the field or label that is wrong."""
    with pytest.raises(InvalidRequestError, match=f"(?s){message}"):
        DRIVER.validate(make_spec(**fields))


def test_further_groups() -> None:
    """Further groups of workers are a part of a cluster, if they fit into it."""
    spec = make_spec()
    changes = {"uuid": "other", "name": "other", "is_default": False}
    extra = spec.workers[0].model_copy(update=changes)
    DRIVER.validate(spec.model_copy(update={"node_groups": (*spec.node_groups, extra)}))
    wrong = extra.model_copy(update={"labels": {"calico_ipv4pool": "10.9.0.0/16"}})
    with pytest.raises(InvalidRequestError, match="calico_ipv4pool holds for the whole cluster"):
        DRIVER.validate(spec.model_copy(update={"node_groups": (*spec.node_groups, wrong)}))


def test_several_masters_need_a_load_balancer() -> None:
    """Without one address for all masters, the first one would be the cluster's only way in."""
    with pytest.raises(InvalidRequestError, match="Set master_lb_enabled"):
        DRIVER.validate(make_spec(masters=3))
