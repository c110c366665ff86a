"""Which nodes a rebuild or a reboot is about."""

from jeroboam.models.sizes import node_work as parameters

__all__ = ["parameters"]
