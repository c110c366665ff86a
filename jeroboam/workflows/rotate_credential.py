"""Replace the credential with which a cluster acts for its owner."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from jeroboam.models import OperationKind
    from jeroboam.models.wire import WORKFLOW_OF_KIND, OperationRequest, OperationResult

from jeroboam.workflows.operation import OperationWorkflow


@workflow.defn(name=WORKFLOW_OF_KIND[OperationKind.ROTATE_CREDENTIAL])
class RotateCredentialWorkflow(OperationWorkflow):
    """Replace the credential with which a cluster acts for its owner."""

    kind = OperationKind.ROTATE_CREDENTIAL

    @workflow.run
    async def run(self, request: OperationRequest) -> OperationResult:
        """Run the operation to its end."""
        return await self.execute(request)
