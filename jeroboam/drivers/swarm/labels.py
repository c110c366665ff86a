"""The labels of the Swarm drivers; names are Magnum's wherever it has one."""

import re

from jeroboam.drivers.docker import labels as docker
from jeroboam.drivers.labels import NATURAL, NETWORK, Label, LabelTable
from jeroboam.drivers.nodes.labels import between, matching

DURATION = matching("duration", "a duration as 2160h or 90m", re.compile(r"\d+[hm]"))

_SWARM = (
    Label(
        "swarm_address_pool",
        NETWORK,
        "10.200.0.0/16",
        "Addresses of the swarm's overlay networks.",
    ),
    Label(
        "swarm_address_pool_subnetlen",
        between("prefix length", 16, 29),
        "24",
        "Size of one overlay network's share of them.",
    ),
    Label(
        "swarm_certificate_expiry",
        DURATION,
        "2160h",
        "For how long the certificates are good that the swarm itself gives to its nodes.",
    ),
    Label("swarm_task_history", NATURAL, "5", "How many ended tasks the swarm remembers of each."),
)

_OVERLAY = "A swarm brings its own network along. Set swarm_address_pool."
RETIRED = {
    **docker.RETIRED,
    "swarm_strategy": "A swarm spreads tasks. Say otherwise in the placement of your services.",
    "swarm_version": "Swarm is a part of Docker. Set docker_version.",
    "container_infra_prefix": "A swarm needs no images of its own. Leave it out.",
    "etcd_tag": "Managers keep the state of the swarm themselves. Leave it out.",
    "flannel_network_cidr": _OVERLAY,
    "flannel_network_subnetlen": "Set swarm_address_pool_subnetlen.",
    "flannel_backend": _OVERLAY,
}

TABLE = LabelTable((*_SWARM, *docker.COMMON), RETIRED)

# What a swarm gets when it is founded and an upgrade cannot change.
FIXED = (*docker.FIXED, *(label.name for label in _SWARM))
