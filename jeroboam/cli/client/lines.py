"""What changed between two looks at an operation, as plain lines for pipes and logs. Pure."""

from collections.abc import Iterator

from jeroboam.cli.client.progress import WAITING, Operation, Step
from jeroboam.cli.client.text import duration

STATE_WIDTH = 9


def changes(before: Operation | None, after: Operation) -> Iterator[str]:
    """Yield a line for each change.

    Args:
        before: The last look; ``None`` at the first one, which tells all that has happened yet.
    """
    if before is None:
        yield f"{after.title}: operation {after.uuid}"
    turned = (before is None or before.state != after.state) and after.state != WAITING
    if turned and not after.ended:
        yield _line_of_state(after)
    known = {step.name: step for step in before.steps} if before else {}
    for step in after.steps:
        earlier = known.get(step.name, Step(step.name))
        if _news(earlier) != _news(step):
            yield line_of(step, after, again=earlier.state == step.state)
    if turned and after.ended:
        yield _line_of_state(after)


def line_of(step: Step, operation: Operation, *, again: bool = False) -> str:
    """Return one line about a step.

    Args:
        again: Whether the step stands as it stood, and only its news are new.
    """
    when = operation.since_start(None if again else step.ended_at or step.started_at)
    took = f" ({duration(step.seconds(operation.at))})" if step.ended_at else ""
    remark = f": {step.remark}" if step.remark else ""
    return f"[{when:6.0f} s] {step.state:<{STATE_WIDTH}}  {step.name}{took}{remark}"


def _line_of_state(operation: Operation) -> str:
    when = operation.since_start(operation.ended_at)
    reason = f": {operation.reason}" if operation.reason else ""
    took = f" after {duration(operation.seconds)}" if operation.ended else ""
    return f"[{when:6.0f} s] {operation.title}: {operation.state}{took}{reason}"


def _news(step: Step) -> tuple[str, str]:
    return step.state, step.remark
