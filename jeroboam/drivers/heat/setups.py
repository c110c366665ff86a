"""What the nodes of a group are set up from: image, user data, version. Pure.

The digest of it is kept in the stack beside it. It tells whether a group has to be set up anew,
which Heat cannot be asked, since it does not show documents with secrets.
"""

from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

_DIGEST = 16
_OTHER = {"a": "b", "b": "a"}


@dataclass(frozen=True)
class Setup:
    """One way to set up a node.

    Args:
        user_data: The document; it holds secrets.
        release: Digest of image and document.
        version: Of the COE.
    """

    image: str
    user_data: str
    release: str
    version: str

    @classmethod
    def of(cls, image: str, user_data: str, version: str, lasting: str | None = None) -> "Setup":
        """Return a set-up with its digest.

        Args:
            lasting: The document without what may change and no node is set up anew for.
        """
        text = user_data if lasting is None else lasting
        release = sha256(f"{image}\n{text}".encode()).hexdigest()[:_DIGEST]
        return cls(image, user_data, release, version)

    def __repr__(self) -> str:
        return f"Setup({self.image}, {self.release}, {self.version})"

    def parameters(self) -> dict[str, Any]:
        """Return it as parameters of a group."""
        return asdict(self)


def next_slot(current: str, current_release: str, release: str) -> str:
    """Return the slot for a release.

    The slot changes with the release, so a group that is led back gets the slot that it had: nodes
    which were not reached yet stay as they are.
    """
    slot = current or "a"
    return slot if current_release == release else _OTHER[slot]
