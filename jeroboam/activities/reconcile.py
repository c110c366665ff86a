"""Repairs what a crash or a hand in the Temporal UI left behind."""

from datetime import timedelta
from typing import Protocol

import structlog
from temporalio import activity

from jeroboam.errors import JeroboamError, OperationInProgressError
from jeroboam.models import Operation, OperationState, utc_now
from jeroboam.store import Store

GRACE = timedelta(seconds=30)
"""Younger operations are left alone: the request that made them may still be at work."""

KEEP_FILES = timedelta(days=1)
"""Files of drivers that no cluster is built from any more are kept for so long."""

ENDED_OUTSIDE = (
    "The operation's run ended without a record: it was terminated or reset from outside. "
    "What the backend has built is still there; delete the cluster, or repeat the operation."
)

log = structlog.get_logger(__name__)


class Runs(Protocol):
    """What the reconciler asks of Temporal."""

    async def start(self, operation: Operation) -> None:
        """Start a pending operation."""

    async def is_running(self, operation: Operation) -> bool:
        """Return whether the operation's run is still open."""


class ReconcileActivities:
    """Compares rows that say "in progress" with the runs that should be working on them."""

    def __init__(self, store: Store, runs: Runs) -> None:
        self._store = store
        self._runs = runs

    @activity.defn
    async def reconcile(self) -> int:
        """Start what waits, give up what nobody works on; return how many rows were touched."""
        touched = 0
        for operation in await self._store.operations.unfinished(utc_now() - GRACE):
            activity.heartbeat(operation.uuid)
            try:
                touched += await self._reconcile(operation)
            except JeroboamError as error:
                # One row's trouble is no reason to leave the others as they are.
                log.warning("not_reconciled", operation_id=operation.uuid, error=error.message)
        await self._store.driver_files.prune(utc_now() - KEEP_FILES)
        return touched

    async def _reconcile(self, operation: Operation) -> int:
        if operation.state is OperationState.PENDING:
            try:
                await self._runs.start(operation)
            except OperationInProgressError:
                log.info("pending_operation_rejected", operation_id=operation.uuid)
            return 1
        if await self._runs.is_running(operation):
            return 0
        # A run writes its end before it closes, so a fresh read decides. One that was taken up
        # again since is active too, and has another run or none yet.
        now = await self._store.operations.get(operation.uuid)
        if not now.state.active or now.run_id != operation.run_id:
            return 0
        await self._store.operations.abandon(operation.uuid, ENDED_OUTSIDE)
        log.warning("operation_abandoned", operation_id=operation.uuid)
        return 1
