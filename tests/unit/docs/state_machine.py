"""The drawings and tables of ``docs/state-machine.md``, made from the code that decides."""

from collections.abc import Iterable, Iterator

from jeroboam.models import (
    Action,
    ClusterSpec,
    Node,
    NodeGroup,
    OperationKind,
    OperationState,
    Parameters,
    Plan,
    PlanStep,
    Status,
)
from jeroboam.models.lifecycle import (
    CANCEL_NOW_WORDS,
    CANCEL_WORDS,
    TRAITS,
    USABLE,
    Ending,
    OnCancel,
    Words,
    may_retry,
    status_after,
)
from jeroboam.models.plans import LONGEST_DEADLINE_MINUTES, build_plan
from jeroboam.models.targets import target_of
from tests.unit.specs import make_spec

Edge = tuple[str, str, str]
Rows = Iterator[tuple[str, ...]]

_LED_BACK = {Action.SUBMIT, Action.TURN_CERTIFICATES, Action.REVOKE_CREDENTIALS}
_USABLE, _OUTSIDE = "usable", "[*]"

OPERATION_EDGES: tuple[Edge, ...] = (
    (_OUTSIDE, OperationState.PENDING, "accepted"),
    (OperationState.PENDING, OperationState.RUNNING, "the run begins"),
    (OperationState.PENDING, OperationState.REJECTED, "lost the race for the cluster"),
    (OperationState.PENDING, OperationState.FAILED, "no plan could be made"),
    (OperationState.PENDING, OperationState.CANCELLED, "a delete took over"),
    (OperationState.RUNNING, OperationState.SUCCEEDED, "all steps done"),
    (OperationState.RUNNING, OperationState.FAILED, "a step failed, or the run was terminated"),
    (OperationState.RUNNING, OperationState.CANCELLED, "cancelled, or a delete took over"),
    (OperationState.RUNNING, OperationState.COMPENSATING, "to be rolled back"),
    (OperationState.COMPENSATING, OperationState.FAILED, "it had failed"),
    (OperationState.COMPENSATING, OperationState.CANCELLED, "it was cancelled"),
)

STATE_MEANINGS = {
    OperationState.PENDING: "Accepted; its run has not begun.",
    OperationState.RUNNING: "A step is at work.",
    OperationState.COMPENSATING: "It failed or was cancelled, and is being rolled back.",
    OperationState.SUCCEEDED: "All steps are done; the cluster's record is the new one.",
    OperationState.FAILED: "A step failed; `reason` says why, and whether it was rolled back.",
    OperationState.CANCELLED: "Somebody cancelled it, or a delete took over.",
    OperationState.REJECTED: "Another operation had the cluster; it never ran.",
}


def cluster_edges() -> Iterable[Edge]:
    """Return how operations lead from status to status; the usable statuses are drawn as one."""
    labels: dict[tuple[str, str], dict[str, None]] = {}
    for start, end, label in _all_edges():
        labels.setdefault((start, end), {})[label] = None
    return [(start, end, ", ".join(found)) for (start, end), found in labels.items()]


def _all_edges() -> Iterator[Edge]:
    for kind, traits in TRAITS.items():
        if traits.cluster:
            yield from _beginnings(kind, traits.cluster)
    for kind, traits in TRAITS.items():
        if traits.cluster:
            yield from _endings(kind, traits.cluster)


def _beginnings(kind: OperationKind, words: Words) -> Iterator[Edge]:
    allowed = TRAITS[kind].allowed_from
    if not allowed:
        yield _OUTSIDE, words.in_progress, kind.words
        yield words.failed, words.in_progress, "retry"
    if allowed >= USABLE:
        yield _USABLE, words.in_progress, kind.words
    for status in Status:
        gone = status is Status.DELETE_COMPLETE
        if status in allowed - USABLE and status is not words.in_progress and not gone:
            yield status, words.in_progress, kind.words


def _endings(kind: OperationKind, words: Words) -> Iterator[Edge]:
    if TRAITS[kind].allowed_from:
        yield words.in_progress, _USABLE, "refused by a hook"
    yield words.in_progress, _OUTSIDE if kind.deletes else words.complete, "done"
    yield words.in_progress, words.failed, "failed"
    if TRAITS[kind].on_cancel is not OnCancel.ROLL_BACK or words.rolling_back is words.in_progress:
        return
    yield words.in_progress, words.rolling_back, "failed, cancelled"
    yield words.rolling_back, words.rolled_back, "previous state"
    yield words.rolling_back, words.roll_back_failed, "failed"


def cluster_drawing() -> str:
    """Return the drawing of a cluster's statuses."""
    inside = [f"        {status}" for status in Status if status in USABLE]
    head = [f'    state "in use" as {_USABLE} {{', *inside, "    }"]
    return _drawing(head, cluster_edges())


def operation_drawing() -> str:
    """Return the drawing of an operation's states."""
    again = (
        (state, OperationState.PENDING, "retry") for state in OperationState if may_retry(state)
    )
    return _drawing([], (*OPERATION_EDGES, *again))


def _drawing(head: Iterable[str], edges: Iterable[Edge]) -> str:
    lines = [f"    {start} --> {end}: {label}" for start, end, label in edges]
    return "\n".join(["```mermaid", "stateDiagram-v2", *head, *lines, "```"])


def statuses() -> Rows:
    """Yield what may start in each status of a cluster."""
    bad = {
        status_after(found.cluster, ending)
        for found in TRAITS.values()
        if found.cluster
        for ending in Ending
        if ending is not Ending.COMPLETE
    }
    for status in Status:
        if status is Status.DELETE_COMPLETE:
            continue
        may = [kind for kind, traits in TRAITS.items() if status in traits.allowed_from]
        rest = [kind.words for kind in OperationKind if kind not in {*may, OperationKind.CREATE}]
        everything = "everything" if not rest else ", ".join(kind.words for kind in may)
        again = "retry" if status in bad else ""
        yield f"`{status}`", ", ".join(filter(None, [everything, again]))


def states() -> Rows:
    """Yield what each state of an operation means."""
    for state in OperationState:
        active, again = ("yes" if said else "no" for said in (state.active, may_retry(state)))
        yield f"`{state}`", STATE_MEANINGS[state], active, again


def traits() -> Rows:
    """Yield what holds for each kind of operation."""
    for kind, found in TRAITS.items():
        words = found.cluster
        shown = f"`{words.in_progress}`, then `{words.complete}`" if words else "unchanged"
        if kind.deletes and words:
            shown = f"`{words.in_progress}`, then gone"
        yield f"`{kind}`", shown, _roll_back(kind), found.on_cancel.replace("_", " ")


def _roll_back(kind: OperationKind) -> str:
    found = TRAITS[kind]
    if found.on_cancel is not OnCancel.ROLL_BACK:
        return "never"
    return "unless `?rollback=false`" if found.rolls_back else "only with `?rollback=true`"


def cancellations() -> Rows:
    """Yield what a cancellation does, in the words that users get."""
    for how in OnCancel:
        kinds = [f"`{kind}`" for kind, found in TRAITS.items() if found.on_cancel is how]
        now = CANCEL_NOW_WORDS[how]
        yield ", ".join(kinds), CANCEL_WORDS[how], "the same" if now == CANCEL_WORDS[how] else now


def plans() -> Rows:
    """Yield the steps of each kind on a cluster with one master and two workers."""
    for kind in OperationKind:
        plan = example_plan(kind)
        undo = [step for done in reversed(plan.steps) for step in done.undo]
        submitted = [step for step in undo if step.action in _LED_BACK]
        back = _listed(submitted) or "nothing"
        steps = _listed((*plan.steps, *plan.final))
        yield f"`{kind}`", steps or "none", back, deadline(plan)


def deadline(plan: Plan) -> str:
    """Return the deadline of a plan in words; ``create_timeout`` of the example is an hour."""
    minutes = plan.deadline_seconds // 60
    if minutes == LONGEST_DEADLINE_MINUTES:
        return "24 hours"
    calls = sum(step.action is Action.SUBMIT for step in plan.steps)
    return "`create_timeout`" if calls <= 1 else f"{calls} times `create_timeout`"


def example_plan(kind: OperationKind) -> Plan:
    """Return the plan of an operation on a small cluster, without hooks."""
    spec = _example()
    workers = spec.workers[0]
    asked = {
        OperationKind.UPDATE: Parameters(node_group=workers.uuid, node_count=3),
        OperationKind.RESIZE: Parameters(node_group=workers.uuid, node_count=3),
        OperationKind.CREATE_NODE_GROUP: Parameters(group=_gpu(spec)),
        OperationKind.UPDATE_NODE_GROUP: Parameters(group=workers),
        OperationKind.DELETE_NODE_GROUP: Parameters(node_group=workers.uuid),
        OperationKind.ROTATE_CREDENTIAL: Parameters(trust_id="new"),
    }.get(kind, Parameters())
    return build_plan(kind, spec, target_of(spec, kind, asked), asked)


def _example() -> ClusterSpec:
    spec = make_spec(workers=2, trust_id="old")

    def with_nodes(group: NodeGroup) -> NodeGroup:
        names = [f"{group.role}-{number}" for number in range(group.node_count)]
        nodes = tuple(Node(name=name, id=name) for name in names)
        return group.model_copy(update={"nodes": nodes})

    return spec.model_copy(update={"node_groups": tuple(map(with_nodes, spec.node_groups))})


def _gpu(spec: ClusterSpec) -> NodeGroup:
    owner = {"cluster_id": spec.cluster.uuid, "project_id": spec.cluster.project_id}
    return NodeGroup(name="gpu", **owner)


def _listed(steps: Iterable[PlanStep]) -> str:
    """Return the names of steps in order; a wait belongs to the step that it waits for."""
    return "; ".join(step.name for step in steps if step.action is not Action.WAIT)
