"""Names of nodes, which must do as names of hosts. Pure."""

import re

from jeroboam.models import Cluster, NodeGroup

_UNFIT = re.compile(r"[^a-z0-9]+")
_CLUSTER_PART, _GROUP_PART = 30, 15
_READABLE, _ID = 8, 6
_SHORT_ID = 12


def short_id(cluster: Cluster) -> str:
    """Return the part of the cluster's uuid that the names of all its objects hold."""
    return short_of(cluster.uuid)


def short_of(uuid: str) -> str:
    """Return the same for a cluster of which nothing but its uuid is at hand."""
    return uuid.replace("-", "")[:_SHORT_ID]


def cluster_part(cluster: Cluster) -> str:
    """Return the beginning of the names of all nodes."""
    readable = host_name(cluster.name)[:_CLUSTER_PART].strip("-")
    return f"{readable}-{short_id(cluster)}"


def group_part(group: NodeGroup) -> str:
    """Return the part between the cluster's and the index, unlike that of any other group.

    A default group's is its name; a further group's holds a part of its id, since names that are
    cut could be alike.
    """
    if group.is_default:
        return host_name(group.name)[:_GROUP_PART].strip("-") or "worker"
    readable = host_name(group.name)[:_READABLE].strip("-")
    return f"{readable}-{group.uuid.replace('-', '')[:_ID]}"


def host_name(name: str) -> str:
    """Return a name without what hosts may not have in theirs."""
    return _UNFIT.sub("-", name.lower()).strip("-") or "c"
