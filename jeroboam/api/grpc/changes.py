"""What has changed between two looks at an operation. Pure."""

from collections.abc import Iterator

from jeroboam.api.grpc.v1.operations_pb2 import Operation, OperationEvent, Step

ENDED = frozenset({"SUCCEEDED", "FAILED", "CANCELLED", "REJECTED"})


class OperationChanges:
    """Turns looks at an operation into events.

    The record keeps for each step which change of it wrote the step last. So whoever knows the
    number of the last change that was told can go on from there, here or in another process.

    Args:
        after_seq: What was told before: steps that were written later are news.
    """

    def __init__(self, after_seq: int = 0) -> None:
        self.seq = after_seq
        self.ended = False
        self._after = after_seq
        self._steps: dict[str, Step] = {}
        self._said: tuple[str, str] | None = None

    def events(self, now: Operation) -> Iterator[OperationEvent]:
        """Yield an event for each step that has changed, in the order of the changes.

        The last one of an operation that has ended says so.
        """
        news = [step for step in sorted(now.steps, key=_seq) if self._is_news(step)]
        self._steps = {step.name: step for step in now.steps}
        for position, step in enumerate(news):
            # An event promises that nothing up to its number is left to tell.
            later = news[position + 1 : position + 2]
            told = step.seq - 1 if later and later[0].seq == step.seq else step.seq
            self.seq = max(self.seq, told)
            yield self._event(now, step)
        self.seq = max(self.seq, now.seq)
        self.ended = now.state in ENDED
        if self.ended or self._said != (now.state, now.reason):
            yield self._event(now)

    def keep_alive(self, now: Operation) -> OperationEvent:
        """Return an event that tells nothing."""
        return self._event(now)

    def _is_news(self, step: Step) -> bool:
        known = self._steps.get(step.name)
        return step.seq > self._after if known is None else step != known

    def _event(self, now: Operation, step: Step | None = None) -> OperationEvent:
        if step is None:
            self._said = (now.state, now.reason)
        return OperationEvent(
            seq=self.seq,
            operation_id=now.uuid,
            cluster_id=now.cluster_id,
            kind=now.kind,
            state=now.state,
            step=step,
            reason=now.reason if now.HasField("reason") else None,
            ended=step is None and now.state in ENDED,
        )


def _seq(step: Step) -> int:
    return step.seq
