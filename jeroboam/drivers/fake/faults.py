"""How a work ends, as the labels of its cluster ask. No I/O."""

from jeroboam.drivers.fake.cluster import FakeCluster
from jeroboam.drivers.fake.labels import Labels
from jeroboam.drivers.fake.records import Event, Work, WorkState


def arrange(cluster: FakeCluster, work: Work, labels: Labels) -> None:
    """Cut a work short where a label asks for that."""
    if labels.fake_lie == work.call and _left(cluster, Event.LIED, work, labels.fake_lie_times):
        work.changes, work.ends = [], None
    elif _left_to_interrupt(cluster, work, labels):
        half = len(work.changes) // 2
        work.ends = work.changes[half].due if work.changes else work.ends
        _cut(work, WorkState.INTERRUPTED, half, labels)
    elif _fails(cluster, work, labels):
        _cut(work, WorkState.FAILED, _place(work, labels), labels)


def _cut(work: Work, stop: WorkState, place: int, labels: Labels) -> None:
    culprit = work.changes[min(place, len(work.changes) - 1)].node if work.changes else ""
    work.stop, work.culprit, work.reason = stop, culprit, labels.fake_fail_reason
    work.changes = work.changes[:place]


def _left_to_interrupt(cluster: FakeCluster, work: Work, labels: Labels) -> bool:
    return labels.fake_interrupt == work.call and _left(
        cluster, Event.INTERRUPTED, work, labels.fake_interruptions
    )


def _left(cluster: FakeCluster, event: Event, work: Work, times: int) -> bool:
    return cluster.count(event, work.call) < times


def _fails(cluster: FakeCluster, work: Work, labels: Labels) -> bool:
    if labels.fake_fail != work.call:
        return False
    if labels.fake_fail_times is not None and not _left(
        cluster, Event.FAILED, work, labels.fake_fail_times
    ):
        return False
    if labels.fake_fail_batch is not None and _batch(cluster, work) != labels.fake_fail_batch:
        return False
    return labels.fake_fail_node is None or any(
        change.node == labels.fake_fail_node for change in work.changes
    )


def _place(work: Work, labels: Labels) -> int:
    for number, change in enumerate(work.changes):
        if change.node == labels.fake_fail_node:
            return number
    return int(len(work.changes) * labels.fake_fail_share)


def _batch(cluster: FakeCluster, work: Work) -> int:
    """Return the how-manieth call of its operation this is; a repeated one counts once."""
    operation = work.key.split(":")[1:2]
    keys = [
        entry.key
        for entry in cluster.journal
        if entry.event is Event.BEGUN
        and entry.call == work.call
        and entry.key.split(":")[1:2] == operation
    ]
    return [*dict.fromkeys([*keys, work.key])].index(work.key) + 1
