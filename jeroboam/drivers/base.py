"""The driver contract: what a driver must offer, and what it may rely on.

The page ``docs/driver-contract.md`` states the rules; ``jeroboam.testing.driver_suite`` checks
them. Nothing here knows of Heat, Temporal or the database. Methods are synchronous, because the
OpenStack clients are; the engine runs each in a thread, so a driver keeps no state between calls.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from jeroboam.drivers import folders
from jeroboam.drivers.abilities import (
    SupportsCertificateRotation,
    SupportsCloudAccount,
    SupportsCredentialRotation,
    SupportsDrain,
    SupportsHealth,
    SupportsHooks,
    SupportsMonitor,
    SupportsNodeGroups,
    SupportsOwnerPreparation,
    SupportsReboot,
    SupportsRebuild,
    SupportsUpgrade,
)
from jeroboam.drivers.context import (
    CertificateAuthority,
    CloudAccess,
    CloudAccount,
    ClusterSecrets,
    DriverContext,
    SecretReader,
)
from jeroboam.errors import InvalidRequestError
from jeroboam.models import (
    ClusterOutputs,
    ClusterSpec,
    ClusterTemplate,
    Method,
    Model,
    Node,
    NodeGroup,
)
from jeroboam.models.cluster import MASTER

__all__ = [
    "CertificateAuthority",
    "CloudAccess",
    "CloudAccount",
    "ClusterDriver",
    "ClusterSecrets",
    "DriverContext",
    "Phase",
    "Poller",
    "Progress",
    "Provides",
    "SecretReader",
    "SupportsCertificateRotation",
    "SupportsCloudAccount",
    "SupportsCredentialRotation",
    "SupportsDrain",
    "SupportsHealth",
    "SupportsHooks",
    "SupportsMonitor",
    "SupportsNodeGroups",
    "SupportsOwnerPreparation",
    "SupportsReboot",
    "SupportsRebuild",
    "SupportsUpgrade",
    "Watch",
]


@dataclass(frozen=True)
class Provides:
    """One kind of cluster that a driver builds; an entry of the seed's ``provides`` list."""

    server_type: str
    os: str
    coe: str

    @property
    def words(self) -> str:
        """The kind as a user reads it."""
        return f"{self.coe} on {self.os} ({self.server_type})"


class Phase(StrEnum):
    """Where the backend stands with what was submitted."""

    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"
    INTERRUPTED = "INTERRUPTED"
    GONE = "GONE"


class Progress(Model):
    """The backend's view of one submitted operation.

    Args:
        phase: ``INTERRUPTED`` means that the backend itself broke off (it was restarted, say) and
            the same driver call would go on with the work; ``FAILED`` is a verdict.
        message: One line for people who watch.
        faults: Reasons by resource, when ``FAILED``.
    """

    phase: Phase
    message: str
    faults: Mapping[str, str] = {}


class Watch(Model):
    """One submitted driver call which somebody waits for.

    Args:
        backend_id: The cluster's ``stack_id``, or the node group's if one is watched.
        method: The driver's method whose end is waited for.
        key: The idempotency key of that call.
        node_group: uuid of the node group that the call was about.
        nodes: For calls about single nodes, which.
    """

    cluster_id: str
    project_id: str
    trust_id: str | None
    backend_id: str | None
    method: Method
    key: str
    node_group: str | None = None
    nodes: tuple[Node, ...] = ()


class Poller(ABC):
    """Asks a backend about many clusters at once; one instance serves all clusters of a cloud."""

    @abstractmethod
    def poll(self, cloud: CloudAccess, watches: Sequence[Watch]) -> Mapping[str, Progress]:
        """Return the progress of each watch by ``cluster_id``; there is one watch per cluster.

        Calls to the backend must not grow with the number of watches wherever the backend has a
        list call. A watch whose backend object does not exist gets ``Phase.GONE``.

        Raises:
            CloudUnavailableError: The backend does not answer; the engine asks again.
        """


class ClusterDriver(ABC):
    """What every driver implements. Further abilities are ABCs of their own.

    All methods that change something must be idempotent: the engine repeats a call after a crash,
    with the same ``idempotency_key``. A repeated call continues work that the backend broke off.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    uses_cloud: ClassVar[bool] = True
    """Whether the driver acts in the tenant's project; without it no trust is made."""
    only_by_name: ClassVar[bool] = False
    """Whether a template or image has to name the driver, as another one builds the same kind."""

    @property
    @abstractmethod
    def provides(self) -> Sequence[Provides]:
        """The kinds of cluster that the driver builds."""

    @abstractmethod
    def validate(self, spec: ClusterSpec) -> None:
        """Check what only the driver can know: labels, sizes, combinations. No I/O.

        Called before a request is accepted.

        Raises:
            InvalidRequestError: With the offending field or label and what would be right.
        """

    @abstractmethod
    def create_cluster(
        self, context: DriverContext, spec: ClusterSpec, timeout_minutes: int
    ) -> str:
        """Submit the creation and return at once.

        Args:
            timeout_minutes: What is left of the operation's deadline, at least 1.

        Returns:
            The backend id, stored as the cluster's ``stack_id``.
        """

    @abstractmethod
    def update_cluster(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        nodes_to_remove: Sequence[Node],
        timeout_minutes: int,
    ) -> None:
        """Submit the change of a node group to the size that it has in ``spec``, and return.

        Nothing else of the cluster may change by it. The engine calls it again with the previous
        size to roll back, from whatever state the backend is in then.

        Args:
            group: The group of ``spec`` that changes.
            nodes_to_remove: Nodes that must be among those removed; empty leaves the choice.
        """

    @abstractmethod
    def delete_cluster(self, context: DriverContext, spec: ClusterSpec) -> None:
        """Submit the removal of everything that belongs to the cluster and return at once.

        What does not exist is success, also when creation was never submitted or stopped halfway.
        All node groups go with the cluster.
        """

    @abstractmethod
    def poller(self) -> Poller:
        """Return the object which reports progress. Drivers of one backend return equal types."""

    @abstractmethod
    def read_outputs(self, context: DriverContext, spec: ClusterSpec) -> ClusterOutputs:
        """Read the addresses and versions of a cluster that is up."""

    def files(self) -> Mapping[str, str]:
        """Return the texts from which clusters are built, by relative path; the same every time.

        They are kept with each cluster, and its later operations find them in
        ``DriverContext.folder``, whatever is installed by then. By default it is all that lies in
        the folder ``templates`` beside the driver's module.

        Raises:
            DriverContractError: A file cannot be read.
        """
        folder = folders.templates_of(type(self))
        return {} if folder is None else folders.texts(folder)

    def check_installation(self) -> None:  # noqa: B027 - most have nothing to check
        """Check at start-up what is installed: templates, and programs or libraries beside it.

        Raises:
            DriverContractError: The driver cannot work as it is; the message says what to do.
            DriverNotInstalledError: What it needs is an optional extra that is not there.
        """

    def validate_template(self, template: ClusterTemplate) -> None:
        """Check a template when it is made: its labels, mostly. No I/O.

        A cluster may still add what the template leaves open, so nothing is missing here.

        Raises:
            InvalidRequestError: With the offending field or label and what would be right.
        """
        _ = template

    def check_resize(self, spec: ClusterSpec, group: NodeGroup, node_count: int) -> None:
        """Check that a group of a cluster may get another size. No I/O.

        Args:
            spec: The cluster as it is.
            group: The group as it is.

        Raises:
            InvalidRequestError: It may not; by default that is any control plane.
        """
        if group.role == MASTER:
            raise InvalidRequestError(
                f"Resizing the group {group.name} of the control plane is not supported by the "
                f"driver {self.name}."
            )

    def explain_failure(
        self, context: DriverContext, spec: ClusterSpec, watch: Watch, progress: Progress
    ) -> Progress:
        """Return ``progress`` with the root cause in it, called once when a phase is ``FAILED``.

        Args:
            watch: What was waited for.
        """
        return progress

    def find_leftovers(self, context: DriverContext, spec: ClusterSpec) -> Sequence[str]:
        """Return what is left in the cloud of a deleted cluster, for people: kind, name and id."""
        return ()
