"""How the run of an operation appears in Temporal: the same whoever starts it. Pure."""

from collections.abc import Mapping

from jeroboam.models.base import Model
from jeroboam.models.cluster import Cluster
from jeroboam.models.operation import Operation
from jeroboam.models.wire import WORKFLOW_OF_KIND, OperationRequest, workflow_id

OPERATION_ID_MEMO = "operation_id"


class RunStart(Model):
    """All that is needed to start a run.

    Args:
        attributes: Search attributes by name; all are keywords.
        summary: The line that operators see.
    """

    workflow: str
    id: str
    request: OperationRequest
    memo: Mapping[str, str]
    attributes: Mapping[str, str]
    summary: str


def run_start(cluster: Cluster, operation: Operation) -> RunStart:
    """Return how to start the run of an operation."""
    return RunStart(
        workflow=WORKFLOW_OF_KIND[operation.kind],
        id=workflow_id(cluster.uuid),
        request=OperationRequest(
            operation_id=operation.uuid,
            cluster_id=operation.cluster_id,
            kind=operation.kind,
            request_id=operation.request_id,
            seq=operation.seq,
        ),
        memo={OPERATION_ID_MEMO: operation.uuid},
        attributes={
            "ClusterId": cluster.uuid,
            "ClusterName": cluster.name,
            "ProjectId": cluster.project_id,
            "Operation": operation.kind,
            "Driver": cluster.driver,
            "Cloud": cluster.cloud,
        },
        summary=f"{operation.kind.words} {cluster.name} ({cluster.driver})",
    )
