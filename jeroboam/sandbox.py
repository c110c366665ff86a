"""How workflows run: in Temporal's sandbox, without what only costs there."""

from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.converter import StorageDriverStoreContext
from temporalio.worker import WorkflowInstance, WorkflowInstanceDetails
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions
from temporalio.workflow import Info

PURE = (
    "jeroboam.models",
    "jeroboam.workflows.attributes",
    "jeroboam.workflows.by_hand",
    "jeroboam.workflows.failure",
    "jeroboam.workflows.limits",
    "jeroboam.workflows.progress",
    "structlog",
)
"""Modules that keep no state and ask nobody for the time, so that all runs may share them.

The sandbox executes all others anew for each run.
"""


class SandboxRunner(SandboxedWorkflowRunner):
    """Temporal's sandbox, which is not entered for each payload.

    Measured: it is asked twice or more for each payload's context, a tenth of a worker's CPU. Our
    data converter and our storage of payloads need none.
    """

    def __init__(self) -> None:
        super().__init__(restrictions=SandboxRestrictions.default.with_passthrough_modules(*PURE))

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        """Return a run in a sandbox of its own."""
        return _WithoutContexts(super().create_instance(det))


class _WithoutContexts(WorkflowInstance):
    def __init__(self, sandboxed: WorkflowInstance) -> None:
        self._sandboxed = sandboxed

    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        return self._sandboxed.activate(act)

    def get_info(self) -> Info:
        return self._sandboxed.get_info()

    def get_thread_id(self) -> int | None:
        return self._sandboxed.get_thread_id()

    def get_serialization_context(self, command_info: object) -> None:
        del command_info

    def get_external_store_context(self, command_info: object) -> StorageDriverStoreContext:
        del command_info
        return StorageDriverStoreContext(target=None)
