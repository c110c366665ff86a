"""Says in one line what happens to a cluster at this moment."""

from collections.abc import Sequence

from jeroboam.models import Operation, OperationState, StepNote
from jeroboam.store import Store


async def describe(store: Store, cluster_id: str) -> str | None:
    """Return the current step of the running operation with its newest note, if there is one."""
    operations = await store.operations.active(cluster_id)
    if not operations:
        return None
    # A run at work tells more than a newer operation that still waits for its turn.
    working = [one for one in operations if one.state is not OperationState.PENDING]
    operation = (working or operations)[0]
    return sentence(operation, await store.operations.notes(operation.uuid))


def sentence(operation: Operation, notes: Sequence[StepNote]) -> str:
    """Return for example ``create: Wait for the backend (attempt 3): Heat does not answer``."""
    if operation.state is OperationState.PENDING:
        return f"{operation.kind}: accepted, waits for a worker"
    step = operation.current_step
    note = _newest(notes, step)
    if step is None and note is not None:
        step = note.step
    undoing = "undoing, " if operation.state is OperationState.COMPENSATING else ""
    parts = [f"{operation.kind}: {undoing}{step or 'between two steps'}"]
    if note is not None and note.attempt > 1:
        parts.append(f" (attempt {note.attempt})")
    if note is not None:
        parts.append(f": {note.message}")
    return "".join(parts)


def _newest(notes: Sequence[StepNote], step: str | None) -> StepNote | None:
    fitting = [note for note in notes if step is None or note.step == step]
    return max(fitting, key=lambda note: note.noted_at, default=None)
