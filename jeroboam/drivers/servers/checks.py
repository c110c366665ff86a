"""What a driver of servers cannot do, and refuses instead of ignoring it. Pure."""

from jeroboam.drivers.kubernetes.plan import KubernetesPlan
from jeroboam.errors import InvalidRequestError
from jeroboam.models import NodeGroup

_VOLUMES = ("boot_volume_size", "etcd_volume_size")


def check(plan: KubernetesPlan, group: NodeGroup) -> None:
    """Check that a group needs no volume, and its cluster no load balancer.

    Raises:
        InvalidRequestError: With the field or label.
    """
    for name in _VOLUMES:
        if plan.labels[name]:
            raise InvalidRequestError(
                f"Label {name} is {plan.labels[name]}, but this driver makes no volumes. Leave it "
                "out, or choose the driver k8s_ubuntu_v1."
            )
    if group.docker_volume_size:
        raise InvalidRequestError(
            f"docker_volume_size is {group.docker_volume_size}, but this driver makes no volumes. "
            "Leave it out, or choose the driver k8s_ubuntu_v1."
        )
    cluster = plan.spec.cluster
    if cluster.master_lb_enabled or plan.spec.masters.node_count != 1:
        raise InvalidRequestError(
            "This driver builds clusters with one master and no load balancer. Set master_count "
            "to 1 and master_lb_enabled to false, or choose the driver k8s_ubuntu_v1."
        )
