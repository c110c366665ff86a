"""Which activity performs which action."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from jeroboam.activities.operation import OperationActivities
from jeroboam.activities.waiting import WaitActivities
from jeroboam.models import Action, OperationKind
from jeroboam.models.wire import StepInput, StepResult

LOAD_PLAN = OperationActivities.load_plan
RECORD = OperationActivities.record

ACTIVITY_OF_ACTION: Mapping[Action, Callable[[Any, StepInput], Awaitable[StepResult]]] = {
    Action.RUN_HOOK: OperationActivities.run_hook,
    Action.ISSUE_CERTIFICATES: OperationActivities.issue_certificates,
    Action.SUBMIT_CREATE: OperationActivities.submit_create,
    Action.SUBMIT_DELETE: OperationActivities.submit_delete,
    Action.WAIT_CREATED: WaitActivities.wait_for_backend,
    Action.WAIT_DELETED: WaitActivities.wait_for_backend,
    Action.COLLECT_OUTPUTS: OperationActivities.collect_outputs,
    Action.REVOKE_CREDENTIALS: OperationActivities.revoke_credentials,
}

INTENT_OF_ACTION = {
    Action.SUBMIT_CREATE: OperationKind.CREATE,
    Action.WAIT_CREATED: OperationKind.CREATE,
    Action.SUBMIT_DELETE: OperationKind.DELETE,
    Action.WAIT_DELETED: OperationKind.DELETE,
}
"""What the backend is doing during an action, whatever the operation is."""
