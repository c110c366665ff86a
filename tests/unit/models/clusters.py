"""Clusters and requests, chosen at random but possible."""

from hypothesis import settings
from hypothesis import strategies as st

from jeroboam.models import (
    ClusterSpec,
    ClusterTemplate,
    HookCall,
    HookPhase,
    HookSource,
    Node,
    NodeGroup,
    OperationKind,
    Parameters,
    Plan,
    Status,
)
from jeroboam.models.cluster import MASTER, WORKER
from jeroboam.models.plans import HookReference, Hooks, build_plan
from jeroboam.models.targets import target_of
from tests.unit.specs import make_spec

few = settings(max_examples=30)
"""For tests that run once for each kind of operation, or for one kind alone."""

ODD_NAMES = ["workers", "Wait: workers", "a" * 255, "a" * 254 + "b", "two\nlines", "größer", "(2)"]
names = st.sampled_from(ODD_NAMES) | st.text(min_size=1, max_size=8)
labels = st.dictionaries(st.sampled_from("abcd"), st.sampled_from("123"))

batch_sizes = st.none() | st.integers(min_value=1, max_value=3)
all_kinds = st.sampled_from(OperationKind)

NODE_KINDS = (OperationKind.REBUILD, OperationKind.SOFT_REBOOT, OperationKind.HARD_REBOOT)


@st.composite
def specs(draw: st.DrawFn) -> ClusterSpec:
    """A cluster with a control plane, a default group and up to four more, in any order."""
    spec = make_spec(labels=draw(labels), create_timeout=draw(st.sampled_from([0, 1, 60])))
    spec = spec.model_copy(
        update={"template": spec.template.model_copy(update={"labels": draw(labels)})}
    )
    unique = st.lists(names, min_size=2, max_size=5, unique=True)
    groups = [_group(draw, spec, number, name) for number, name in enumerate(draw(unique))]
    return spec.model_copy(update={"node_groups": tuple(draw(st.permutations(groups)))})


def _group(draw: st.DrawFn, spec: ClusterSpec, number: int, name: str) -> NodeGroup:
    count = draw(st.integers(min_value=0 if number else 1, max_value=4))
    status = draw(st.sampled_from([Status.CREATE_COMPLETE, Status.UPDATE_FAILED]))
    return NodeGroup(
        name=name,
        cluster_id=spec.cluster.uuid,
        project_id=spec.cluster.project_id,
        role=WORKER if number else MASTER,
        is_default=number < 2,
        labels=draw(labels),
        node_count=count,
        nodes=tuple(
            Node(name=f"{number}-{node}", id=f"id-{number}-{node}") for node in range(count)
        ),
        status=draw(st.sampled_from([status, Status.CREATE_FAILED])) if number > 1 else status,
    )


@st.composite
def new_templates(draw: st.DrawFn, spec: ClusterSpec) -> ClusterTemplate:
    """A template of the same owner to move to."""
    changes = {"uuid": "new", "name": "new", "image_id": "new-os", "labels": draw(labels)}
    return spec.template.model_copy(update=changes)


def requests(spec: ClusterSpec, kind: OperationKind) -> st.SearchStrategy[Parameters]:
    """What the API could hand over for a kind of operation."""
    groups, counts = st.sampled_from(spec.node_groups), st.integers(min_value=0, max_value=9)
    uuids = groups.map(lambda group: group.uuid)
    if kind in {OperationKind.UPDATE, OperationKind.RESIZE}:
        return st.builds(Parameters, node_group=uuids, node_count=counts)
    if kind in NODE_KINDS:
        return _node_choices(spec)
    changed = st.builds(_changed, groups, counts)
    return {
        OperationKind.UPGRADE: st.builds(
            Parameters,
            node_group=st.none() | uuids,
            cluster_template_id=st.just("new"),
            batch_size=batch_sizes,
        ),
        OperationKind.CREATE_NODE_GROUP: st.builds(Parameters, group=_new_groups(spec)),
        OperationKind.UPDATE_NODE_GROUP: st.builds(Parameters, group=changed),
        OperationKind.DELETE_NODE_GROUP: st.builds(Parameters, node_group=uuids),
    }.get(kind, st.just(Parameters()))


def _changed(group: NodeGroup, count: int) -> NodeGroup:
    changes = {"min_node_count": count, "max_node_count": 9, "node_labels": {"disk": "ssd"}}
    return group.model_copy(update=changes)


def _new_groups(spec: ClusterSpec) -> st.SearchStrategy[NodeGroup]:
    taken = {group.name for group in spec.node_groups}
    owner = {"cluster_id": spec.cluster.uuid, "project_id": spec.cluster.project_id}
    free = names.filter(lambda name: name not in taken)
    return st.builds(lambda name: NodeGroup(name=name, **owner), free)


@st.composite
def _node_choices(draw: st.DrawFn, spec: ClusterSpec) -> Parameters:
    """All nodes, those of some groups, or some by name; at least one."""
    masters, batch = spec.masters, draw(batch_sizes)
    groups = draw(st.sets(st.sampled_from([group.uuid for group in spec.node_groups])))
    known = [node.name for group in spec.node_groups for node in group.nodes]
    if draw(st.booleans()):
        return Parameters(batch_size=batch, node_groups=tuple({masters.uuid, *groups}))
    return Parameters(batch_size=batch, nodes=tuple(draw(st.sets(st.sampled_from(known)))))


@st.composite
def hook_references(draw: st.DrawFn, phase: HookPhase) -> tuple[HookReference, ...]:
    """Hooks of one phase; the same one may be declared twice."""
    calls = st.builds(
        HookCall, phase=st.just(phase), source=st.sampled_from(HookSource), name=names
    )
    return tuple(
        HookReference(call=call, timeout_seconds=5) for call in draw(st.lists(calls, max_size=3))
    )


@st.composite
def all_hooks(draw: st.DrawFn) -> Hooks:
    """The hooks of an operation."""
    return Hooks(
        before=draw(hook_references(HookPhase.BEFORE)),
        after=draw(hook_references(HookPhase.AFTER)),
        on_failure=draw(hook_references(HookPhase.FAILURE)),
    )


Made = tuple[Plan, ClusterSpec, Parameters]


@st.composite
def plans(
    draw: st.DrawFn,
    kinds: st.SearchStrategy[OperationKind] = all_kinds,
    hooks: st.SearchStrategy[Hooks] | None = None,
) -> Made:
    """A plan with what it was made for."""
    kind, spec = draw(kinds), draw(specs())
    parameters = draw(requests(spec, kind))
    template = draw(new_templates(spec)) if kind is OperationKind.UPGRADE else None
    chosen = draw(all_hooks() if hooks is None else hooks)
    return make_plan(kind, spec, parameters, chosen, template), spec, parameters


def plain_plans(kinds: st.SearchStrategy[OperationKind] = all_kinds) -> st.SearchStrategy[Made]:
    """Plans without hooks, which are quicker to draw."""
    return plans(kinds, hooks=st.just(Hooks()))


def make_plan(
    kind: OperationKind,
    spec: ClusterSpec,
    parameters: Parameters | None = None,
    hooks: Hooks | None = None,
    template: ClusterTemplate | None = None,
) -> Plan:
    """Return a plan as the engine makes it."""
    asked = parameters or Parameters()
    target = target_of(spec, kind, asked, template)
    return build_plan(kind, spec, target, asked, hooks=hooks)
