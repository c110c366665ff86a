"""What the nodes of a group are set up from: image, Ignition document, version. Pure but for files.

The digest of it is kept in the stack beside it. It tells whether a group has to be set up anew,
which Heat cannot be asked, since it does not show documents with secrets.
"""

from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from jeroboam.drivers.base import ClusterSecrets
from jeroboam.drivers.heat.kubernetes import contents, ignition
from jeroboam.drivers.heat.kubernetes.plan import KubernetesPlan
from jeroboam.models import ClusterSpec, NodeGroup

MANIFEST = "ignition.yaml"

_DIGEST = 16
_OTHER = {"a": "b", "b": "a"}


@dataclass(frozen=True)
class Setup:
    """One way to set up a node.

    Args:
        ignition: The document; it holds secrets.
        release: Digest of image and document.
    """

    image: str
    ignition: str
    release: str
    version: str

    def __repr__(self) -> str:
        return f"Setup({self.image}, {self.release}, {self.version})"

    def parameters(self) -> dict[str, Any]:
        """Return it as parameters of a group."""
        return asdict(self)


def render(folder: Path, spec: ClusterSpec, group: NodeGroup, secrets: ClusterSecrets) -> Setup:
    """Return how the nodes of a group are set up.

    Args:
        folder: Of the driver's templates; the manifest is in it.
    """
    plan = KubernetesPlan.of(spec, group)
    texts = contents.generate(plan, secrets, group)
    arguments = contents.kernel_arguments(plan)
    document = ignition.render(folder / MANIFEST, group.role, texts, arguments)
    return _setup(plan.image_of(group), document, plan.coe_version)


def nobody(spec: ClusterSpec) -> Setup:
    """Return what fills the parameters of a group that is not there."""
    plan = KubernetesPlan.of(spec)
    return _setup(spec.template.image_id, "{}", plan.coe_version)


def next_slot(current: str, current_release: str, release: str) -> str:
    """Return the slot for a release.

    The slot changes with the release, so a group that is led back gets the slot that it had: nodes
    which were not reached yet stay as they are.
    """
    slot = current or "a"
    return slot if current_release == release else _OTHER[slot]


def _setup(image: str, document: str, version: str) -> Setup:
    release = sha256(f"{image}\n{document}".encode()).hexdigest()[:_DIGEST]
    return Setup(image, document, release, version)
