"""What living clusters were set up from stays what it is, whatever this version adds.

Their files are kept with them, but their contents are made by the version at work. If one of them
changed, the next upgrade of any kind would set all nodes up anew. The digests are those of the
version before cloud controller manager and Cinder's CSI driver were offered.
"""

import json
from hashlib import sha256
from typing import Any

import pytest

from jeroboam.drivers.kubernetes import contents
from tests.unit.drivers.heat.clusters import make_spec
from tests.unit.drivers.heat.fixed_secrets import fixed_secrets
from tests.unit.drivers.heat.nodes import DRIVERS

CLUSTERS: dict[str, dict[str, Any]] = {
    "plain": {},
    "calico": {"template": {"network_driver": "calico"}, "master_lb_enabled": True, "masters": 3},
    "everything": {
        "labels": {
            "container_infra_prefix": "registry.example.org/kube/",
            "metrics_server_enabled": "true",
            "addon_manifest_urls": "http://files/one.yaml http://files/two.yaml",
            "kubelet_options": "--max-pods=50",
            "kubeapi_options": "--profiling=false",
            "octavia_provider": "ovn",
        },
        "template": {
            "http_proxy": "http://proxy.example.org:3128",
            "no_proxy": "10.0.0.0/8",
            "insecure_registry": "registry.example.org:5000",
        },
        "group": {"node_labels": {"a": "b"}},
    },
}
DIGESTS = {
    ("k8s_coreos_v1", "calico"): "47be56d6c0b91f3c",
    ("k8s_coreos_v1", "everything"): "01c848a683d52e50",
    ("k8s_coreos_v1", "plain"): "32729c419fc34eb7",
    ("k8s_fedora_atomic_v1", "calico"): "73d3c0968ce355a4",
    ("k8s_fedora_atomic_v1", "everything"): "70bfdef3eb03485c",
    ("k8s_fedora_atomic_v1", "plain"): "53be1b6e02cd0725",
    ("k8s_fedora_coreos_v1", "calico"): "7f5bf0b18f1a7d3b",
    ("k8s_fedora_coreos_v1", "everything"): "a2f98c61a15b3eac",
    ("k8s_fedora_coreos_v1", "plain"): "097225ab1343dc27",
    ("k8s_ubuntu_v1", "calico"): "974594ee71b7a540",
    ("k8s_ubuntu_v1", "everything"): "f6bb9f24f9410813",
    ("k8s_ubuntu_v1", "plain"): "0bc466bdfd23bad4",
}


def digest(driver: str, cluster: str) -> str:
    """Return the digest of all texts that nodes of both roles get."""
    spec = make_spec(**CLUSTERS[cluster])
    texts = {
        group.role: {
            name: text
            for name, text in contents.generate(
                DRIVERS[driver]().plan(spec, group), fixed_secrets(), group
            ).items()
            if text
        }
        for group in spec.node_groups
    }
    return sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:16]


@pytest.mark.parametrize("driver", sorted(DRIVERS))
@pytest.mark.parametrize("cluster", sorted(CLUSTERS))
def test_contents_stay(driver: str, cluster: str) -> None:
    """A cluster none of whose programs calls the cloud gets what it has always got."""
    assert digest(driver, cluster) == DIGESTS[driver, cluster]
