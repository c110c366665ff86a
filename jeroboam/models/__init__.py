"""The vocabulary that every layer shares: pure pydantic models, no I/O."""

from jeroboam.models.base import Model, new_uuid, utc_now
from jeroboam.models.cluster import (
    Cluster,
    ClusterOutputs,
    ClusterSpec,
    ClusterTemplate,
    Health,
    HealthStatus,
    Node,
    NodeGroup,
    Status,
)
from jeroboam.models.driver_files import DriverFiles
from jeroboam.models.identity import Identity
from jeroboam.models.kind import OperationKind
from jeroboam.models.operation import (
    Operation,
    OperationState,
    Recorded,
    StepNote,
    StepRecord,
    StepState,
    Transition,
)
from jeroboam.models.parameters import Parameters
from jeroboam.models.plan import (
    Action,
    BackendCall,
    CertificateTurn,
    FailurePolicy,
    HookCall,
    HookPhase,
    HookSource,
    Method,
    Plan,
    PlanStep,
)

__all__ = [
    "Action",
    "BackendCall",
    "CertificateTurn",
    "Cluster",
    "ClusterOutputs",
    "ClusterSpec",
    "ClusterTemplate",
    "DriverFiles",
    "FailurePolicy",
    "Health",
    "HealthStatus",
    "HookCall",
    "HookPhase",
    "HookSource",
    "Identity",
    "Method",
    "Model",
    "Node",
    "NodeGroup",
    "Operation",
    "OperationKind",
    "OperationState",
    "Parameters",
    "Plan",
    "PlanStep",
    "Recorded",
    "Status",
    "StepNote",
    "StepRecord",
    "StepState",
    "Transition",
    "new_uuid",
    "utc_now",
]
