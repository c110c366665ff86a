"""Compares the record of an operation with the pretended backend's own files. Pure."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from jeroboam.drivers.fake.changes import version_of
from jeroboam.drivers.fake.cluster import FakeCluster
from jeroboam.drivers.fake.records import Entry, Event, FakeNode, WorkState
from jeroboam.models import ClusterSpec, Node, NodeGroup, OperationKind
from tests.chaos import oracle
from tests.chaos.faults import Outcome
from tests.chaos.oracle import chosen, is_settled, judge_record

K = OperationKind
Case = oracle.Case[FakeCluster]


def judge(case: Case) -> Iterator[str]:
    """Yield what is not as it should be."""
    if case.outcome is Outcome.BADLY and any(one.event is Event.RESUMED for one in entries(case)):
        # A call that is repeated since its answer was lost goes on with work that has failed
        # meanwhile, and any crash may have taken that answer, also one in another cluster's round.
        case = replace(case, outcome=Outcome.STOPPED)
    yield from judge_record(case)
    yield from _duplicates(case)
    if case.now is None:
        yield from _removal(case)
        return
    if is_settled(case.now, case.operation):
        yield from consistency(case.now, case.known)
    if case.went_well and case.attempts == 1:
        yield from _effects(case)


def consistency(spec: ClusterSpec, known: FakeCluster) -> Iterator[str]:
    """Yield differences between a cluster's record and the backend."""
    recorded = {group.uuid for group in spec.node_groups if group.built}
    for uuid in known.groups.keys() - recorded:
        yield f"orphaned: node group {known.groups[uuid].name} is only on the backend"
    for group in spec.node_groups:
        if group.built:
            yield from _group(spec, group, known)
    for work in known.works.values():
        if work.state is WorkState.RUNNING:
            yield f"wrong: the backend is still at work: {work.call} {work.key}"
    trusted = {tuple(node.authorities) for node in known.nodes() if node.authorities}
    if len({authority for one in trusted for authority in one}) > 1:
        yield f"wrong: nodes trust {sorted(trusted)}, and one authority is in use"


def _group(spec: ClusterSpec, group: NodeGroup, known: FakeCluster) -> Iterator[str]:
    there = known.groups.get(group.uuid)
    if there is None:
        yield f"lost: node group {group.name} is not on the backend"
        return
    if len(there.nodes) != group.node_count:
        found = len(there.nodes)
        yield f"wrong: {group.name} has {found} nodes, and {group.node_count} in the record"
    recorded, real = {_of(node) for node in group.nodes}, {_as_node(node) for node in there.nodes}
    if recorded != real:
        yield f"wrong: nodes of {group.name} differ: {sorted(recorded ^ real)}"
    version = version_of(spec, group)
    others = {node.version for node in there.nodes} - {version}
    if others:
        yield f"wrong: {group.name} runs {sorted(others)}, and {version} in the record"


def _of(node: Node) -> tuple[str, ...]:
    return (node.name, node.id, str(node.version), *node.addresses)


def _as_node(node: FakeNode) -> tuple[str, ...]:
    return (node.name, node.id, node.version, node.address)


def _removal(case: Case) -> Iterator[str]:
    known = case.known
    if known.exists:
        yield f"orphaned: {sum(1 for _ in known.nodes())} nodes of a cluster that is gone"
    if known.leftovers:
        yield f"orphaned: {', '.join(known.leftovers)}"


def entries(case: Case) -> list[Entry]:
    """Return what the backend has written down for the operation."""
    return [entry for entry in case.known.journal if case.operation.uuid in entry.key]


def _duplicates(case: Case) -> Iterator[str]:
    """Yield side effects that happened more often than the operation was begun."""
    once = {Event.REBOOTED, Event.REBUILT}
    per_attempt = {Event.REPLACED, Event.CREATED, Event.REMOVED}
    seen = Counter((entry.event, entry.key, entry.subject) for entry in entries(case))
    for (event, key, subject), times in seen.items():
        allowed = 1 if event in once else case.attempts
        if event in once | per_attempt and times > allowed:
            yield f"duplicated: {subject} was {event} {times} times for {key}"
    by_node = Counter((entry.event, entry.subject) for entry in entries(case))
    for (event, subject), times in by_node.items():
        if event in once and times > 1:
            yield f"duplicated: {subject} was {event} {times} times by one operation"


def _effects(case: Case) -> Iterator[str]:
    """Yield effects of an operation that ended well at once, where they are not those wanted."""
    found = Counter(entry.event for entry in entries(case))
    wanted = _wanted(case)
    for event, times in wanted.items():
        if found[event] != times:
            word = "duplicated" if found[event] > times else "lost"
            yield f"{word}: {found[event]} nodes were {event}, and {times} should be"


def _wanted(case: Case) -> dict[Event, int]:
    kind, parameters, before = case.operation.kind, case.operation.parameters, case.before
    wanted: dict[Event, int] = {}
    if kind is K.CREATE:
        wanted = {Event.CREATED: sum(one.node_count for one in before.node_groups)}
    elif kind in {K.RESIZE, K.UPDATE}:
        group = before.group(parameters.node_group or before.workers[0].uuid)
        change = (parameters.node_count or 0) - group.node_count
        wanted = {Event.CREATED: max(0, change), Event.REMOVED: max(0, -change)}
    elif kind is K.CREATE_NODE_GROUP and parameters.group:
        wanted = {Event.CREATED: parameters.group.node_count}
    elif kind is K.UPGRADE:
        built = (group for group in before.node_groups if group.built)
        wanted = {Event.REPLACED: sum(group.node_count for group in built)}
    elif kind in {K.SOFT_REBOOT, K.HARD_REBOOT}:
        wanted = {Event.REBOOTED: chosen(case.operation)}
    elif kind is K.REBUILD:
        wanted = {Event.REBUILT: chosen(case.operation)}
    return _NOTHING | wanted if wanted else {}


_NOTHING = dict.fromkeys((Event.CREATED, Event.REMOVED, Event.REBOOTED, Event.REBUILT), 0)
