"""What crosses the wire to Temporal: names, then inputs, then results.

Callers in any language need only this module. No field may ever hold a secret: all of it stays
readable in workflow history.
"""

from collections.abc import Mapping

from pydantic import Field

from jeroboam.models.base import Model, RunInput
from jeroboam.models.cluster import ClusterOutputs, Health
from jeroboam.models.kind import OperationKind
from jeroboam.models.operation import OperationState, StepRecord
from jeroboam.models.plan import BackendCall, CertificateTurn, HookCall, Plan

RECONCILE_WORKFLOW = "Reconcile"
SUPERSEDE_UPDATE = "supersede"
CANCEL_UPDATE = "cancel"
ANSWER_HOOK_UPDATE = "answer_hook"
ALREADY_DELETING = "AlreadyDeletingError"
"""Error type of a supersede that is refused because a delete is at work already."""

OPERATION_ENDED = "OperationEndedError"
"""Error type of a run that found its operation ended: a reset, or a second run by hand."""

WORKFLOW_OF_KIND = {
    OperationKind.CREATE: "CreateCluster",
    OperationKind.UPDATE: "UpdateCluster",
    OperationKind.DELETE: "DeleteCluster",
    OperationKind.FORCE_DELETE: "ForceDeleteCluster",
    OperationKind.RESIZE: "ResizeCluster",
    OperationKind.UPGRADE: "UpgradeCluster",
    OperationKind.REBUILD: "RebuildCluster",
    OperationKind.SOFT_REBOOT: "SoftRebootCluster",
    OperationKind.HARD_REBOOT: "HardRebootCluster",
    OperationKind.CREATE_NODE_GROUP: "CreateNodeGroup",
    OperationKind.UPDATE_NODE_GROUP: "UpdateNodeGroup",
    OperationKind.DELETE_NODE_GROUP: "DeleteNodeGroup",
    OperationKind.CHECK_HEALTH: "CheckHealth",
    OperationKind.ROTATE_CA: "RotateCa",
    OperationKind.ROTATE_CREDENTIAL: "RotateCredential",
}


def workflow_id(cluster_id: str) -> str:
    """Return the id of the one run that may work on a cluster; Temporal keeps it unique."""
    return f"cluster/{cluster_id}"


class OperationRequest(RunInput):
    """The input of every operation workflow; all else is read from the store by the first step.

    Args:
        request_id: The API request that asked for it, for the logs of the whole chain.
        seq: Number of the last transition that an earlier run has written.
    """

    operation_id: str
    cluster_id: str
    kind: OperationKind
    request_id: str
    seq: int = 0


class LoadedPlan(Model):
    """The first step's result: the plan, and how far an earlier run came with it.

    Args:
        steps: What is recorded of the plan's steps; those that are done are passed over.
    """

    plan: Plan
    steps: tuple[StepRecord, ...] = ()


class CancelRequest(Model):
    """The input of the update ``cancel``.

    Args:
        operation_id: The operation that is meant; by now another one may be at work.
        reason: For the record: who asked, and why.
        now: Whether it does not wait for the nodes at work.
    """

    operation_id: str
    reason: str
    now: bool = False


class StepInput(Model):
    """The input of every step's activity.

    Args:
        step: The step's name in the plan; with the two ids it makes the idempotency key.
        kind: What the operation is.
        minutes_left: What is left of the operation's deadline, at least 1.
        resubmissions: How often what is waited for may still be submitted again.
        hook_seconds: How long a hook may take, all its attempts together.
        failure: Why the operation failed, for hooks that run then.
        trusts: Ids of the trusts that are meant; empty is the cluster's own.
        turn: Where the stored authorities go.
    """

    operation_id: str
    cluster_id: str
    cluster_name: str
    request_id: str
    step: str
    kind: OperationKind
    driver: str
    call: BackendCall | None = None
    hook: HookCall | None = None
    minutes_left: int = 1
    resubmissions: int = 0
    hook_seconds: int = 300
    failure: str | None = None
    trusts: tuple[str, ...] = ()
    turn: CertificateTurn | None = None

    @property
    def required_hook(self) -> HookCall:
        """The hook of a step that runs one."""
        if self.hook is None:
            raise ValueError(f"Step '{self.step}' names no hook.")
        return self.hook

    @property
    def required_call(self) -> BackendCall:
        """The backend call of a step that makes one, or waits for it."""
        if self.call is None:
            raise ValueError(f"Step '{self.step}' asks nothing of the backend.")
        return self.call

    @property
    def idempotency_key(self) -> str:
        """The same on every retry, whatever run it happens in.

        A wait has the key of the step that submitted what it waits for.
        """
        step = self.call.submitted_by if self.call else self.step
        return f"{self.cluster_id}:{self.operation_id}:{step}"


class HookAnswer(Model):
    """What a hook says when it answers later; the input of the update ``answer_hook``.

    Args:
        operation_id: The operation that is meant; filled in by whoever sends it.
        step: The hook's step in the plan.
        ok: Whether the operation may go on.
        message: Why not, or a remark for the record.
        labels: Labels that it adds to the cluster.
    """

    operation_id: str = ""
    step: str
    ok: bool
    message: str = ""
    labels: Mapping[str, str] = Field(default_factory=dict)


class StepResult(Model):
    """What a step found out that the record should keep.

    Args:
        backend_id: The id of what was submitted; of the cluster, or of the call's node group.
        message: In words, for the step's record.
        labels: Labels that a hook adds to the cluster.
        later: The hook answers by the update ``answer_hook``.
        again: What was waited for was broken off and has to be submitted again.
        warning: What went wrong without being fatal.
    """

    backend_id: str | None = None
    outputs: ClusterOutputs | None = None
    health: Health | None = None
    message: str | None = None
    labels: Mapping[str, str] = Field(default_factory=dict)
    later: bool = False
    again: bool = False
    warning: str | None = None


class OperationResult(Model):
    """How the run ended. A failed operation is a failed run; this is for the other ends."""

    operation_id: str
    state: OperationState
    reason: str | None = None
