"""What crosses the wire to Temporal when the keys of an imported cluster are kept."""

from jeroboam.models.base import Model

KEEP_KEYS_WORKFLOW = "KeepKeys"


class SealedKeys(Model):
    """Keys that only workers can read.

    Args:
        sealed: See ``jeroboam.store.inbox``.
    """

    cluster_id: str
    sealed: str
