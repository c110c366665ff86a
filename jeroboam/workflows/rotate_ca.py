"""Replace a cluster's certificate authorities."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from jeroboam.models import OperationKind
    from jeroboam.models.wire import WORKFLOW_OF_KIND, OperationRequest, OperationResult

from jeroboam.workflows.operation import OperationWorkflow


@workflow.defn(name=WORKFLOW_OF_KIND[OperationKind.ROTATE_CA])
class RotateCaWorkflow(OperationWorkflow):
    """Replace a cluster's certificate authorities."""

    kind = OperationKind.ROTATE_CA

    @workflow.run
    async def run(self, request: OperationRequest) -> OperationResult:
        """Run the operation to its end."""
        return await self.execute(request)
