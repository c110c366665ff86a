"""What crosses the wire to Temporal: names, then inputs, then results.

Callers in any language need only this module. No field may ever hold a secret: all of it stays
readable in workflow history.
"""

from jeroboam.models.base import Model
from jeroboam.models.cluster import ClusterOutputs
from jeroboam.models.operation import OperationKind, OperationState
from jeroboam.models.plan import HookCall

CREATE_CLUSTER_WORKFLOW = "CreateCluster"
DELETE_CLUSTER_WORKFLOW = "DeleteCluster"
RECONCILE_WORKFLOW = "Reconcile"
SUPERSEDE_UPDATE = "supersede"
ALREADY_DELETING = "AlreadyDeletingError"
"""Error type of a supersede that is refused because a delete is at work already."""

WORKFLOW_OF_KIND = {
    OperationKind.CREATE: CREATE_CLUSTER_WORKFLOW,
    OperationKind.DELETE: DELETE_CLUSTER_WORKFLOW,
}


def workflow_id(cluster_id: str) -> str:
    """Return the id of the one run that may work on a cluster; Temporal keeps it unique."""
    return f"cluster/{cluster_id}"


class OperationRequest(Model):
    """The input of every operation workflow; all else is read from the store by the first step.

    Args:
        request_id: The API request that asked for it, for the logs of the whole chain.
        rollback: Whether a failure is compensated.
    """

    operation_id: str
    cluster_id: str
    kind: OperationKind
    request_id: str
    rollback: bool = False


class StepInput(Model):
    """The input of every step's activity.

    Args:
        step: The step's name in the plan; with the two ids it makes the idempotency key.
        intent: What the backend is doing for this step; a compensation of a create deletes.
        minutes_left: What is left of the operation's deadline, at least 1.
        resubmissions: How often an interrupted backend operation may be submitted again.
    """

    operation_id: str
    cluster_id: str
    cluster_name: str
    request_id: str
    step: str
    intent: OperationKind
    driver: str
    hook: HookCall | None = None
    minutes_left: int = 1
    resubmissions: int = 5

    @property
    def required_hook(self) -> HookCall:
        """The hook of a step that runs one."""
        if self.hook is None:
            raise ValueError(f"Step '{self.step}' names no hook.")
        return self.hook

    @property
    def idempotency_key(self) -> str:
        """The same on every retry, whatever run it happens in."""
        return f"{self.cluster_id}:{self.operation_id}:{self.step}"


class StepResult(Model):
    """What a step found out that the record should keep."""

    stack_id: str | None = None
    outputs: ClusterOutputs | None = None


class OperationResult(Model):
    """How the run ended. A failed operation is a failed run; this is for the other ends."""

    operation_id: str
    state: OperationState
    reason: str | None = None
