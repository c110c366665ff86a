"""Who may reach which nodes of a Kubernetes cluster: the rules of its security groups. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from jeroboam.drivers.kubernetes.plan import KubernetesPlan

Rule = Mapping[str, Any]
OWN_GROUP = "own_group"
"""Marks a rule whose remote is the security group itself."""

NODES, MASTERS, WORKERS = "nodes", "masters", "workers"

_ANYWHERE = "0.0.0.0/0"
_POD_NETWORK = (("udp", 8472), ("udp", 4789), ("udp", 8285), ("tcp", 179), ("tcp", 5473))
"""VXLAN of flannel and of Calico, flannel's UDP, BGP, Typha."""
_KUBELET = 10250
_NODE_PORTS = (30000, 32767)
_ETCD = (2379, 2380)
_SSH = 22
_IP_IN_IP = "4"


def security_groups(plan: KubernetesPlan) -> Mapping[str, Sequence[Rule]]:
    """Return the rules of each security group by the last part of its name."""
    port = plan.api_port
    among_nodes = [
        _own("icmp"),
        _own("tcp", _KUBELET),
        _own("tcp", port),
        *(_own(protocol, number) for protocol, number in _POD_NETWORK),
        _own(_IP_IN_IP),
        # Pods whose packets are not wrapped.
        {"remote_ip_prefix": plan.pod_network},
    ]
    if plan.spec.cluster.keypair:
        among_nodes += [_from(cidr, "tcp", _SSH) for cidr in plan.labels["ssh_allowed_cidrs"]]
    services = _ANYWHERE
    if not plan.spec.cluster.floating_ip_enabled and not plan.spec.cluster.fixed_network:
        services = str(plan.labels["fixed_subnet_cidr"])
    return {
        NODES: among_nodes,
        MASTERS: [_own("tcp", *_ETCD), _from(_ANYWHERE, "tcp", port)],
        WORKERS: [_from(services, protocol, *_NODE_PORTS) for protocol in ("tcp", "udp")],
    }


def _own(protocol: str, first: int | None = None, last: int | None = None) -> Rule:
    return {OWN_GROUP: True, **_ports(protocol, first, last)}


def _from(cidr: str, protocol: str, first: int, last: int | None = None) -> Rule:
    return {"remote_ip_prefix": cidr, **_ports(protocol, first, last)}


def _ports(protocol: str, first: int | None, last: int | None) -> Rule:
    if first is None:
        return {"protocol": protocol}
    return {"protocol": protocol, "port_range_min": first, "port_range_max": last or first}
