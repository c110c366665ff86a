"""Which activity performs which action."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from jeroboam.activities.accounts import AccountActivities
from jeroboam.activities.draining import DrainActivities
from jeroboam.activities.hooks import HookActivities
from jeroboam.activities.operation import OperationActivities
from jeroboam.activities.rotation import RotationActivities
from jeroboam.activities.waiting import WaitActivities
from jeroboam.models import Action
from jeroboam.models.wire import StepInput, StepResult

LOAD_PLAN = OperationActivities.load_plan
RECORD = OperationActivities.record

ACTIVITY_OF_ACTION: Mapping[Action, Callable[[Any, StepInput], Awaitable[StepResult]]] = {
    Action.RUN_HOOK: HookActivities.run_hook,
    Action.ISSUE_CERTIFICATES: OperationActivities.issue_certificates,
    Action.SUBMIT: OperationActivities.submit,
    Action.WAIT: WaitActivities.wait_for_backend,
    Action.DRAIN: DrainActivities.drain,
    Action.UNDRAIN: DrainActivities.undrain,
    Action.COLLECT_OUTPUTS: OperationActivities.collect_outputs,
    Action.CHECK_HEALTH: OperationActivities.check_health,
    Action.FIND_LEFTOVERS: OperationActivities.find_leftovers,
    Action.TRY_CREDENTIALS: RotationActivities.try_credentials,
    Action.REVOKE_CREDENTIALS: RotationActivities.revoke_credentials,
    Action.TURN_CERTIFICATES: RotationActivities.turn_certificates,
    Action.MAKE_ACCOUNT: AccountActivities.make_account,
    Action.HAND_ACCOUNT: AccountActivities.hand_account,
    Action.RESTORE_ACCOUNT: AccountActivities.restore_account,
    Action.REMOVE_ACCOUNTS: AccountActivities.remove_accounts,
}
