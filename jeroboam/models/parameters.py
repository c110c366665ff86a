"""What was asked of an operation, beyond its kind."""

from jeroboam.models.base import Model
from jeroboam.models.cluster import NodeGroup


class Parameters(Model):
    """The input of an operation. Which fields count depends on the kind; names are resolved.

    Args:
        node_group: uuid of the one node group that is meant; for an upgrade ``None`` means all.
        node_count: update, resize: the new size.
        nodes_to_remove: resize: names of nodes that must be among those removed.
        cluster_template_id: upgrade: uuid of the template to move to.
        driver_version: upgrade: the driver's version to move to, as it was installed when the
            upgrade was accepted.
        driver_files: upgrade: digest of that version's files.
        batch_size: upgrade, rebuild, reboot: how many nodes at a time; ``None`` is all at once.
            Of the control plane it is always one.
        node_groups: rebuild, reboot: uuids; empty means all groups.
        nodes: rebuild, reboot: names; empty means all nodes of the groups.
        group: create and update of a node group: the group as it shall be.
        trust_id: rotation of the credential: the trust that takes the place of the cluster's.
        owner_id: rotation of the credential: who becomes the cluster's owner, where the credential
            of the former one is of no use any more.
    """

    node_group: str | None = None
    node_count: int | None = None
    nodes_to_remove: tuple[str, ...] = ()
    cluster_template_id: str | None = None
    driver_version: str | None = None
    driver_files: str | None = None
    batch_size: int | None = 1
    node_groups: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    group: NodeGroup | None = None
    trust_id: str | None = None
    owner_id: str | None = None
