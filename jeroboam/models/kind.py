"""The kinds of lifecycle operations."""

from enum import StrEnum


class OperationKind(StrEnum):
    """What can be asked of a cluster."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    FORCE_DELETE = "force_delete"
    RESIZE = "resize"
    UPGRADE = "upgrade"
    REBUILD = "rebuild"
    SOFT_REBOOT = "soft_reboot"
    HARD_REBOOT = "hard_reboot"
    CREATE_NODE_GROUP = "create_node_group"
    UPDATE_NODE_GROUP = "update_node_group"
    DELETE_NODE_GROUP = "delete_node_group"
    CHECK_HEALTH = "check_health"
    ROTATE_CA = "rotate_ca"
    ROTATE_CREDENTIAL = "rotate_credential"

    @property
    def words(self) -> str:
        """The kind as people read it."""
        return self.replace("_", " ")

    @property
    def deletes(self) -> bool:
        """Whether the cluster is to go; such an operation pre-empts others."""
        return self in {self.DELETE, self.FORCE_DELETE}
