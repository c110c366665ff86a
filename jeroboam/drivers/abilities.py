"""What a driver may be able to do beyond the core of the contract; each ability is a class.

A driver has those that it inherits from. Import them from ``jeroboam.drivers.base``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from keystoneauth1.session import Session

from jeroboam.drivers.context import CloudAccess, DriverContext
from jeroboam.models import ClusterSpec, Health, Node, NodeGroup, OperationKind
from jeroboam.models.monitoring import Observation


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


class SupportsOwnerPreparation(ABC):
    """A driver whose backend has to see the owner's own token before a cluster is created."""

    @abstractmethod
    def prepare_owner(self, cloud: CloudAccess, owner: Session) -> None:
        """Do with the requester's own token what a trust cannot do.

        Called in the API process, in the request that creates a cluster, when all else has been
        checked. Idempotent, and quick: somebody waits. A driver in a worker of its own is not
        called, as tokens leave the API process for nowhere but the cloud.

        Args:
            owner: A session with the token of the request, which is forgotten with it.

        Raises:
            JeroboamError: The cluster is not created.
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


class SupportsCredentialRotation(ABC):
    """A driver whose clusters can go on with another credential of their project."""

    @abstractmethod
    def rotate_credential(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup | None,
        former_trust_ids: Sequence[str],
        timeout_minutes: int,
    ) -> None:
        """Submit that the backend acts on a cluster by its credential in ``spec`` from now on.

        Called for the cluster as a whole, then for each node group that was added to it. Nothing
        else of the cluster may change by it. Afterwards the former credential is revoked; it may be
        of no use already, where the former owner has left. The engine calls it with the previous
        cluster to roll back.

        Args:
            group: The added group that is meant; ``None`` is the cluster.
            former_trust_ids: All other trusts that the cluster has ever had and that may be there.
        """


class SupportsCertificateRotation(ABC):
    """A driver that can give the nodes of a living cluster other certificates."""

    @abstractmethod
    def check_certificate_rotation(self, spec: ClusterSpec) -> None:
        """Check that all nodes can be given other certificates without losing the cluster. No I/O.

        Raises:
            InvalidRequestError: They cannot; the message says why and what to do.
        """

    @abstractmethod
    def renew_certificates(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        batch_size: int | None,
        timeout_minutes: int,
    ) -> None:
        """Submit that a group's nodes trust and use what ``context.read_secrets`` gives now.

        All nodes trust ``trusted`` of each authority, and have certificates that its key signed.
        Called for each group, three times in a rotation, and again to roll back; nodes that are set
        up so already are left alone.

        Args:
            batch_size: How many nodes may be away at a time; ``None`` is all of them.
        """


class SupportsCloudAccount(ABC):
    """A driver whose clusters may hold programs that call the cloud, for volumes or addresses."""

    @abstractmethod
    def needs_cloud_account(self, spec: ClusterSpec) -> bool:
        """Return whether programs of this cluster call the cloud. No I/O.

        Where they do, ``context.read_secrets().account`` is there before the cluster is created.
        The answer is the same for the whole life of a cluster.
        """

    @abstractmethod
    def hand_over_account(self, context: DriverContext, spec: ClusterSpec) -> None:
        """Have programs in a living cluster use the account of ``context.read_secrets()``.

        Called when the account was replaced. It has a few minutes, and is repeated when it fails.

        Raises:
            ClusterUnreachableError: The cluster does not answer.
        """
