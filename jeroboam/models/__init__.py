"""The vocabulary that every layer shares: pure pydantic models, no I/O."""

from jeroboam.models.base import Model, new_uuid, utc_now
from jeroboam.models.cluster import (
    Cluster,
    ClusterOutputs,
    ClusterSpec,
    ClusterTemplate,
    HealthStatus,
    NodeGroup,
    Status,
)
from jeroboam.models.identity import Identity
from jeroboam.models.operation import (
    Operation,
    OperationKind,
    OperationState,
    StepNote,
    StepRecord,
    StepState,
    Transition,
)
from jeroboam.models.plan import Action, FailurePolicy, HookCall, HookPhase, Plan, PlanStep

__all__ = [
    "Action",
    "Cluster",
    "ClusterOutputs",
    "ClusterSpec",
    "ClusterTemplate",
    "FailurePolicy",
    "HealthStatus",
    "HookCall",
    "HookPhase",
    "Identity",
    "Model",
    "NodeGroup",
    "Operation",
    "OperationKind",
    "OperationState",
    "Plan",
    "PlanStep",
    "Status",
    "StepNote",
    "StepRecord",
    "StepState",
    "Transition",
    "new_uuid",
    "utc_now",
]
