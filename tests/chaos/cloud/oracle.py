"""Compares the record of an operation with what the cloud itself says. Pure.

Each finding is a sentence with its kind at the front, as in the other world.
"""

from collections import Counter
from collections.abc import Iterator

from jeroboam.models import ClusterSpec, Node, NodeGroup, OperationKind, Parameters, StepState
from jeroboam.models.work import chosen_nodes
from tests.chaos import oracle
from tests.chaos.cloud.survey import Server, Survey
from tests.chaos.oracle import is_settled, judge_record

K = OperationKind
Case = oracle.Case[Survey]

ACTIONS = {K.SOFT_REBOOT: "reboot", K.HARD_REBOOT: "reboot", K.REBUILD: "rebuild"}
"""What Nova calls it."""

SETTLED_STACKS = frozenset({"CREATE_COMPLETE", "UPDATE_COMPLETE"})


def judge(case: Case) -> Iterator[str]:
    """Yield what is not as it should be."""
    yield from judge_record(case)
    yield from _duplicates(case)
    if case.now is None:
        yield from _remains(case.known)
        return
    if _was_undone(case):
        # The trust stays as long as the cluster's record does: a retry needs it.
        yield from _remains(case.known.model_copy(update={"trust": False}))
    if is_settled(case.now, case.operation):
        yield from consistency(case.now, case.known)
    if case.went_well and case.attempts == 1:
        yield from _effects(case, case.now)


def consistency(spec: ClusterSpec, known: Survey) -> Iterator[str]:
    """Yield differences between a cluster's record and the cloud."""
    yield from _stacks(spec, known)
    servers = {one.id: one for one in known.servers}
    recorded = {node.id for group in spec.node_groups if group.built for node in group.nodes}
    for server in known.servers:
        if server.id not in recorded:
            yield f"orphaned: server {server.name} ({server.id}) is only in the cloud"
    for name, times in Counter(one.name for one in known.servers).items():
        if times > 1:
            yield f"duplicated: there are {times} servers {name}"
    for group in spec.node_groups:
        if group.built:
            yield from _group(group, servers)
    for thing in known.things:
        if not thing.known:
            yield f"orphaned: no stack of the cluster knows {thing}"
    if not known.trust:
        yield "lost: the trust of the cluster"


def _stacks(spec: ClusterSpec, known: Survey) -> Iterator[str]:
    own = [group for group in spec.node_groups if group.built and not group.is_default]
    wanted, found = 1 + len(own), len(known.stacks)
    if found != wanted:
        word = "duplicated" if found > wanted else "lost"
        names = sorted(one.name for one in known.stacks)
        yield f"{word}: the cluster has {found} stacks, and {wanted} should be: {names}"
    for stack in known.stacks:
        if stack.status not in SETTLED_STACKS:
            yield f"wrong: stack {stack.name} is {stack.status}"


def _group(group: NodeGroup, servers: dict[str, Server]) -> Iterator[str]:
    if len(group.nodes) != group.node_count:
        yield f"wrong: {group.name} has {len(group.nodes)} nodes, and {group.node_count} by number"
    for node in group.nodes:
        server = servers.get(node.id or "")
        if server is None:
            yield f"lost: node {node.name} has no server ({node.id})"
        else:
            yield from _node(node, server)


def _node(node: Node, server: Server) -> Iterator[str]:
    if node.name != server.name:
        yield f"wrong: the server of {node.name} is called {server.name}"
    if server.status != "ACTIVE" or server.task:
        yield f"wrong: server {server.name} is {server.status}, {server.task or 'idle'}"
    if set(node.addresses) - set(server.addresses):
        yield f"wrong: {node.name} has {server.addresses}, and {node.addresses} in the record"
    if node.version != server.version:
        yield f"wrong: {node.name} runs {server.version}, and {node.version} in the record"


def _was_undone(case: Case) -> bool:
    """Whether a creation was rolled back to its end."""
    undone = [step for step in case.operation.steps if step.undoes]
    done = all(step.state is StepState.SUCCEEDED for step in undone)
    return case.operation.kind is K.CREATE and bool(undone) and done and not case.went_well


def _remains(known: Survey) -> Iterator[str]:
    yield from (f"orphaned: {words}" for words in known.everything())


def _duplicates(case: Case) -> Iterator[str]:
    """Yield what an operation did to a server more than once, or that nobody asked for."""
    since, wanted = case.operation.created_at, ACTIONS.get(case.operation.kind)
    for server in case.known.servers:
        for kind in ("reboot", "rebuild"):
            times = len(server.done(kind, since))
            if times > (1 if kind == wanted else 0):
                yield f"duplicated: server {server.name} had {times} {kind}s by one operation"


def _effects(case: Case, now: ClusterSpec) -> Iterator[str]:
    """Yield effects of an operation that ended well at once, where they are not those wanted."""
    kind, parameters, before = case.operation.kind, case.operation.parameters, case.before
    servers = {one.id: one for one in case.known.servers}
    if kind in ACTIONS:
        for node in chosen_nodes(before, parameters):
            server = servers.get(node.id or "")
            if server and not server.done(ACTIONS[kind], case.operation.created_at):
                yield f"lost: server {server.name} had no {ACTIONS[kind]}"
    if kind is not K.CREATE:
        yield from _identities(case, set(servers))
    if kind in {K.RESIZE, K.UPDATE}:
        yield from _size(parameters, before, now)


def _identities(case: Case, after: set[str]) -> Iterator[str]:
    """Yield servers that were replaced or left although it was not asked."""
    before = {node.id: node.name for node in _nodes(case.before)}
    leaving, staying = _leaving(case), before.keys()
    if case.operation.kind is K.UPGRADE:
        for ident in before.keys() & after:
            yield f"lost: server {before[ident]} was not replaced"
        return
    gone = staying - after
    if len(gone) != leaving:
        names = sorted(before[ident] for ident in gone)
        yield f"wrong: {len(gone)} servers are gone, and {leaving} should be: {names}"
    coming = _coming(case)
    if len(after - staying) != coming:
        yield f"wrong: {len(after - staying)} servers are new, and {coming} should be"
    for name in case.operation.parameters.nodes_to_remove:
        if name in {before[ident] for ident in staying & after}:
            yield f"lost: {name} was to be removed and is there"


def _leaving(case: Case) -> int:
    parameters = case.operation.parameters
    if case.operation.kind is K.DELETE_NODE_GROUP:
        return len(case.before.group(parameters.node_group or "").nodes)
    return max(0, -_growth(case))


def _coming(case: Case) -> int:
    parameters = case.operation.parameters
    if case.operation.kind is K.CREATE_NODE_GROUP and parameters.group:
        return parameters.group.node_count
    return max(0, _growth(case))


def _growth(case: Case) -> int:
    parameters = case.operation.parameters
    if case.operation.kind not in {K.RESIZE, K.UPDATE}:
        return 0
    group = case.before.group(parameters.node_group or case.before.workers[0].uuid)
    return (parameters.node_count or 0) - group.node_count


def _size(parameters: Parameters, before: ClusterSpec, now: ClusterSpec) -> Iterator[str]:
    group = now.group(parameters.node_group or before.workers[0].uuid)
    if len(group.nodes) != parameters.node_count:
        yield f"wrong: {group.name} has {len(group.nodes)} nodes; {parameters.node_count} asked for"


def _nodes(spec: ClusterSpec) -> list[Node]:
    return [node for group in spec.node_groups if group.built for node in group.nodes]
