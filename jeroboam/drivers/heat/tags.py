"""The tags of stacks: whose they are, and which call was submitted last. Pure."""

from hashlib import sha256

TAG = "jeroboam"
"""All stacks of Jeroboam have it."""

_GROUP = "node-group-"
_LENGTH = 80


def key_tag(idempotency_key: str) -> str:
    """Return the key in the form that Heat takes: no comma and at most 80 characters."""
    if len(idempotency_key) <= _LENGTH and "," not in idempotency_key:
        return idempotency_key
    return f"key-{sha256(idempotency_key.encode()).hexdigest()}"


def group_tag(uuid: str) -> str:
    """Return the tag of a stack that is a node group's own."""
    return f"{_GROUP}{uuid}"


def is_group_tag(tag: str) -> bool:
    """Whether a tag says that the stack is a node group's own."""
    return tag.startswith(_GROUP)
