"""The driver contract: what a driver must offer, and what it may rely on.

The page ``docs/driver-contract.md`` states the rules; ``jeroboam.testing.driver_suite`` checks
them. Nothing here knows of Heat, Temporal or the database. Methods are synchronous, because the
OpenStack clients are; the engine runs each in a thread, so a driver keeps no state between calls.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Protocol

from keystoneauth1.session import Session

from jeroboam.drivers import folders
from jeroboam.errors import InvalidRequestError
from jeroboam.models import (
    ClusterOutputs,
    ClusterSpec,
    ClusterTemplate,
    Health,
    Method,
    Model,
    Node,
    NodeGroup,
    OperationKind,
)
from jeroboam.models.cluster import MASTER
from jeroboam.models.monitoring import Observation


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


class CloudAccess(Protocol):
    """Authenticated sessions on one cloud. Credentials stay inside; drivers never see them."""

    @property
    def name(self) -> str:
        """The cloud's name in ``clouds.yaml``."""

    @property
    def region(self) -> str | None:
        """The region in which endpoints are looked up."""

    @property
    def interface(self) -> str:
        """The endpoint interface: ``public``, ``internal`` or ``admin``."""

    def service_session(self) -> Session:
        """Return a session of Jeroboam's own service user."""

    def tenant_session(self, trust_id: str | None) -> Session:
        """Return a session that acts for the owner of a cluster, in the owner's project.

        Args:
            trust_id: ``Cluster.trust_id``.

        Raises:
            CredentialRejectedError: The cluster has no trust, or it was revoked.
        """


@dataclass(frozen=True)
class CertificateAuthority:
    """One CA of a cluster, PEM-encoded. The key is secret; the repr does not show it."""

    certificate: str
    private_key: str

    def __repr__(self) -> str:
        return "CertificateAuthority(...)"


@dataclass(frozen=True)
class ClusterSecrets:
    """What a driver may deliver to nodes; must not reach logs, errors or backend names.

    Args:
        kubernetes: The cluster's API CA (used by every COE, whatever the name says).
        etcd: CA of etcd's peers and clients.
        front_proxy: CA of the API aggregation layer.
        service_account_key: PEM private key which signs service-account tokens.
        bootstrap_token: ``<6>.<16>`` characters, as kubeadm's tokens are.
    """

    kubernetes: CertificateAuthority
    etcd: CertificateAuthority
    front_proxy: CertificateAuthority
    service_account_key: str
    bootstrap_token: str

    def __repr__(self) -> str:
        return "ClusterSecrets(...)"


class SecretReader(Protocol):
    """Reads a cluster's secrets when, and only when, a driver needs them."""

    def __call__(self) -> ClusterSecrets:
        """Return the secrets of the cluster that the driver method was called with."""


@dataclass(frozen=True)
class DriverContext:
    """The surroundings of one driver call.

    Args:
        idempotency_key: ``<cluster>:<operation>:<step>``, the same on every retry of the call.
        cloud: Sessions on the cluster's cloud.
        read_secrets: Gives the cluster's certificates and tokens.
        folder: Where the files lie from which this cluster is built, as ``ClusterDriver.files``
            names them; ``None`` is those that are installed.
    """

    idempotency_key: str
    cloud: CloudAccess
    read_secrets: SecretReader
    folder: Path | None = None


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


class SupportsNodeGroups(ABC):
    """A driver whose clusters can have more than the two default node groups."""

    @abstractmethod
    def check_node_group(self, spec: ClusterSpec, group: NodeGroup) -> None:
        """Check a group that shall be added or changed. No I/O.

        Args:
            spec: The cluster as it shall be, the group included.

        Raises:
            InvalidRequestError: With the offending field or label and what would be right.
        """

    @abstractmethod
    def create_node_group(
        self, context: DriverContext, spec: ClusterSpec, group: NodeGroup, timeout_minutes: int
    ) -> str:
        """Submit the creation of a node group; return the backend id, its ``stack_id``."""

    @abstractmethod
    def delete_node_group(
        self, context: DriverContext, spec: ClusterSpec, group: NodeGroup
    ) -> None:
        """Submit the removal of a node group; what does not exist is success."""


class SupportsUpgrade(ABC):
    """A driver that can move a living cluster to another template."""

    @abstractmethod
    def check_upgrade(self, spec: ClusterSpec, target: ClusterSpec) -> None:
        """Check the move: versions never go down and never skip one, and much else. No I/O.

        Raises:
            InvalidRequestError: With both versions and which one would be possible.
        """

    @abstractmethod
    def upgrade_node_group(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        batch_size: int | None,
        timeout_minutes: int,
    ) -> None:
        """Submit the move of a group's nodes to what ``spec`` says of image, labels and version.

        The engine calls it with the previous cluster to roll back, from whatever state the
        backend is in then.

        Args:
            spec: The cluster as it shall be.
            group: The group as it shall be.
            batch_size: How many nodes may be away at a time; ``None`` is all of them.
        """


class SupportsReboot(ABC):
    """A driver that can reboot single nodes."""

    @abstractmethod
    def reboot_nodes(
        self, context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node], *, hard: bool
    ) -> None:
        """Submit the reboot of nodes; a repeated call reboots none of them twice.

        Args:
            hard: Whether to cut the power instead of asking the system.
        """


class SupportsRebuild(ABC):
    """A driver that can set single nodes up anew, with the same identity and addresses."""

    @abstractmethod
    def check_rebuild(self, spec: ClusterSpec, nodes: Sequence[Node]) -> None:
        """Check that these nodes can be rebuilt without losing the cluster. No I/O.

        Raises:
            InvalidRequestError: They cannot; the message says why and what to do.
        """

    @abstractmethod
    def rebuild_nodes(
        self, context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node]
    ) -> None:
        """Submit the rebuild of nodes; a repeated call rebuilds none of them twice."""


class SupportsHealth(ABC):
    """A driver that can tell how a cluster is."""

    @abstractmethod
    def check_health(self, context: DriverContext, spec: ClusterSpec) -> Health:
        """Return the cluster's health now; what cannot be reached is ``UNKNOWN``, no error."""


class SupportsMonitor(ABC):
    """A driver that looks at clusters regularly: how they are, and what their nodes use."""

    @abstractmethod
    def monitor(self, context: DriverContext, spec: ClusterSpec) -> Observation:
        """Look at a cluster; it has a minute. What cannot be reached is ``UNKNOWN``, no error."""


class SupportsDrain(ABC):
    """A driver that chooses which nodes go, and has what runs there move elsewhere before."""

    @abstractmethod
    def choose_removals(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        count: int,
        named: Sequence[Node],
    ) -> Sequence[Node]:
        """Return the nodes of a group that go: those that are named, then those missed least.

        Args:
            group: The group as it is.
            count: How many go in all.

        Raises:
            ClusterUnreachableError: The cluster does not answer.
        """

    @abstractmethod
    def drain_nodes(
        self, context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node]
    ) -> Mapping[str, str]:
        """Have nothing new put onto nodes, ask what is there to leave, and return at once.

        The engine calls it until nothing is left. Nodes that the cluster does not know are empty.

        Returns:
            What is still there, with the reason; empty when the nodes may go.

        Raises:
            ClusterUnreachableError: The cluster does not answer.
        """

    @abstractmethod
    def undrain_nodes(
        self, context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node]
    ) -> None:
        """Let work onto nodes again that ``drain_nodes`` has closed, and onto no others.

        Raises:
            ClusterUnreachableError: The cluster does not answer.
        """


class SupportsHooks(ABC):
    """A driver that wants to act before or after an operation (the seed's pre and post hooks)."""

    @abstractmethod
    def before(self, operation: OperationKind, context: DriverContext, spec: ClusterSpec) -> None:
        """Act before the operation touches the backend; raise a ``JeroboamError`` to refuse it."""

    @abstractmethod
    def after(self, operation: OperationKind, context: DriverContext, spec: ClusterSpec) -> None:
        """Act when the backend has finished; idempotent."""

    def failed(
        self, operation: OperationKind, context: DriverContext, spec: ClusterSpec, reason: str
    ) -> None:
        """Act when the operation has failed and was rolled back, if that was asked; idempotent."""
        _ = operation, context, spec, reason
