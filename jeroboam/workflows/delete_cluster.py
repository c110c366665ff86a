"""Delete a cluster."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from jeroboam.models import OperationKind
    from jeroboam.models.wire import DELETE_CLUSTER_WORKFLOW, OperationRequest, OperationResult

from jeroboam.workflows.operation import OperationWorkflow


@workflow.defn(name=DELETE_CLUSTER_WORKFLOW)
class DeleteClusterWorkflow(OperationWorkflow):
    """Deletes a cluster: the plan says how, the skeleton does it."""

    kind = OperationKind.DELETE

    @workflow.run
    async def run(self, request: OperationRequest) -> OperationResult:
        """Run the operation to its end."""
        return await self.execute(request)
