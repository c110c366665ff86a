"""Looks at a cluster of Magnum's Heat drivers before it is taken over; changes nothing."""

from collections.abc import Iterable, Mapping, Sequence

from openstack.connection import Connection

from jeroboam.drivers.context import CloudAccess
from jeroboam.drivers.heat import clients
from jeroboam.drivers.heat.servers import Servers
from jeroboam.drivers.heat.stacks import Stacks
from jeroboam.drivers.importing import Finding, ImportWish, Survey
from jeroboam.drivers.magnum_heat_v1 import families, reading, recognition
from jeroboam.drivers.magnum_heat_v1.families import Family
from jeroboam.drivers.magnum_heat_v1.records import StackRecord
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import InvalidRequestError, NotFoundError
from jeroboam.models import ClusterSpec, Identity, NodeGroup
from jeroboam.models.cluster import MASTER

MOST_CANDIDATES = 30
"""Stacks that are looked at in search of node groups; more have to be named."""

_GROUP_NAME = 20
"""Of the cluster's name, so much is in the name of a node group's stack."""

_NEED_KEYS = {
    "add workers": "their certificates are signed with the key of the cluster's authority",
    "certificates": "they are signed with the key of the cluster's authority",
    "the cluster's API": "Jeroboam logs in to it with the key of the cluster's authority",
}

_ONLY_KUBERNETES = "only for Kubernetes"

_GOOD = ("CREATE", "UPDATE", "ROLLBACK", "CHECK", "RESUME", "SNAPSHOT", "RESTORE", "ADOPT")


def survey(cloud: CloudAccess, wish: ImportWish, owner: Identity) -> Survey:
    """Return what is recognised of a cluster.

    Raises:
        NotFoundError: A stack is not there, or is another project's.
        InvalidRequestError: It is no stack of a whole cluster.
    """
    stacks = Stacks(cloud, None)
    main = _own(stacks, wish.stack, owner, whole=True)
    _require_outermost(main)
    family = families.of(main.parameters, main.outputs)
    groups, searched = _groups(stacks, main, wish, owner)
    spec = recognition.recognise(main, groups, wish, owner)
    connection = clients.connection(cloud, None)
    servers, sizes = Servers(connection).listed(), _sizes(connection)
    spec = spec.model_copy(
        update={
            "node_groups": tuple(
                _with_nodes(group, main, groups, family, servers).model_copy(
                    update={"vcpus": sizes.get(group.flavor_id or "")}
                )
                for group in spec.node_groups
            )
        }
    )
    return Survey(
        spec=spec,
        findings=(
            *_of_cluster(main, spec),
            *_of_nodes_to_come(main, owner),
            *_of_groups(spec),
            *searched,
        ),
        operations=_operations(main, groups, family),
        needs_keys=_NEED_KEYS if family is families.KUBERNETES else {},
        obstacles=tuple(_obstacles((main, *groups))),
    )


def _own(stacks: Stacks, ident: str, owner: Identity, *, whole: bool) -> StackRecord:
    """Return a stack of the owner's project; an administrator sees those of others, too."""
    try:
        found = reading.read(stacks, ident, whole=whole)
    except NotFoundError:
        found = None
    if found is None or found.project not in {None, owner.project_id}:
        raise NotFoundError(
            f"Stack {ident} could not be found in your project. Log in to the cluster's project; "
            "`openstack stack list` shows its stacks."
        )
    return found


def _require_outermost(main: StackRecord) -> None:
    if main.parent:
        raise InvalidRequestError(
            f"Stack {main.state.name} is a part of the stack {main.parent}. Name the outermost one."
        )
    if main.parameters.get("is_cluster_stack", "true").lower() == "false":
        raise InvalidRequestError(
            f"Stack {main.state.name} is a node group. Name the stack of its cluster; its node "
            "groups are found by themselves."
        )


def _groups(
    stacks: Stacks, main: StackRecord, wish: ImportWish, owner: Identity
) -> tuple[Sequence[StackRecord], Sequence[Finding]]:
    """Return the stacks of further node groups: those that are named, and those that are found."""
    found = {}
    for ident in wish.node_groups:
        record = _own(stacks, ident, owner, whole=True)
        _require_group(record, main)
        found[record.state.id] = record
    candidates = [one for one in _candidates(stacks, main) if one not in found]
    for ident in candidates[:MOST_CANDIDATES]:
        state = stacks.find(ident)
        if state is not None and _is_group_of(state.parameters, main):
            found[ident] = reading.read(stacks, ident, whole=True)
    more = len(candidates) - MOST_CANDIDATES
    missed = Finding(
        what="node groups",
        found=f"{more} more stacks have such names and were not looked at; name what is missing",
        complete=False,
    )
    groups = sorted(found.values(), key=lambda one: (one.created or "", one.state.name))
    return groups, [missed] if more > 0 else []


def _candidates(stacks: Stacks, main: StackRecord) -> Sequence[str]:
    """Return the stacks whose names begin as those of node groups do."""
    beginning = recognition.name_of(main)[:_GROUP_NAME].rstrip("-")
    listed = stacks.names().items()
    ours = (
        ident
        for ident, name in listed
        if ident != main.state.id and name.startswith(f"{beginning}-")
    )
    return list(ours)


def _is_group_of(parameters: Mapping[str, str], main: StackRecord) -> bool:
    uuid = main.text("cluster_uuid")
    outermost = str(parameters.get("is_cluster_stack", "true")).lower() != "false"
    return not outermost and uuid is not None and parameters.get("cluster_uuid") == uuid


def _require_group(record: StackRecord, main: StackRecord) -> None:
    if not _is_group_of(record.parameters, main):
        raise InvalidRequestError(
            f"Stack {record.state.name} is no node group of the cluster: its parameter "
            f"cluster_uuid is '{record.text('cluster_uuid') or ''}', and its is_cluster_stack "
            f"'{record.text('is_cluster_stack') or ''}'. Leave it out."
        )


def _with_nodes(
    group: NodeGroup,
    main: StackRecord,
    groups: Sequence[StackRecord],
    family: Family,
    servers: Mapping[str, object],
) -> NodeGroup:
    stack = next(one for one in (main, *groups) if one.state.id == group.stack_id)
    names = family.masters if group.role == MASTER else family.workers
    listed = reading.nodes(stack.of_groups(names), servers, group.version)
    return group.model_copy(update={"nodes": tuple(listed)})


def _sizes(connection: Connection) -> Mapping[str, int]:
    """Return the number of CPUs by the names and ids of flavors."""
    with translate_cloud_errors("Nova"):
        listed = list(connection.compute.flavors(details=True))
    return {ident: int(one.vcpus) for one in listed for ident in (one.name, one.id)}


def _of_cluster(main: StackRecord, spec: ClusterSpec) -> Iterable[Finding]:
    cluster, template = spec.cluster, spec.template
    known = main.text("cluster_uuid")
    same = (known or "").lower() == cluster.uuid
    yield Finding(what="stack", found=f"{main.state.name}, {main.state.status}")
    yield Finding(
        what="uuid",
        found=f"{cluster.uuid}, "
        + ("as Magnum had it" if same else "made of the stack's: it has no valid cluster_uuid"),
        complete=same,
    )
    yield Finding(what="engine", found=" ".join(filter(None, (template.coe, cluster.coe_version))))
    yield Finding(
        what="api address",
        found=cluster.api_address or "not told by the stack",
        complete=cluster.api_address is not None,
    )
    yield Finding(
        what="labels", found=f"{len(cluster.labels)} that are not as Magnum's template has them"
    )


def _of_nodes_to_come(main: StackRecord, owner: Identity) -> Iterable[Finding]:
    """Tell where nodes that are added fetch their certificates, and in whose name.

    They log in by Magnum's trust, which acts as the user who made the cluster, and the policy
    lets nobody but a cluster's user have certificates signed.
    """
    url, creator = main.text("magnum_url"), main.text("username")
    if url:
        yield Finding(
            what="certificates of new nodes",
            found=f"asked for at {url}, where this API has to answer",
        )
    if creator and owner.user_name:
        same = creator == owner.user_name
        advice = "" if same else "; new nodes get certificates only if that user imports it"
        yield Finding(what="user", found=f"made by {creator}{advice}", complete=same)


def _of_groups(spec: ClusterSpec) -> Iterable[Finding]:
    for group in spec.node_groups:
        there = [node for node in group.nodes if node.status != "DELETED"]
        words = f"{group.node_count} of {group.flavor_id}"
        if len(there) != group.node_count:
            words += f", of which {len(there)} have a server"
        ill = [f"{node.name} is {node.status}" for node in group.nodes if node.status != "ACTIVE"]
        yield Finding(
            what=f"node group {group.name}",
            found="; ".join([words, *ill]),
            complete=len(there) == group.node_count and not ill,
        )


def _operations(
    main: StackRecord, groups: Sequence[StackRecord], family: Family
) -> Mapping[str, str | None]:
    kubernetes = family is families.KUBERNETES
    fixed = [one for one in (main, *groups) if family.removals not in one.parameters]
    unnamed = (
        f"the template has no parameter {family.removals}, so Heat chooses which nodes go"
        if fixed
        else None
    )
    return {
        "remove workers": None,
        "choose which workers go": unnamed,
        **({} if kubernetes else {"add workers": None, "the cluster's API": _ONLY_KUBERNETES}),
        "resize the control plane": "Magnum's templates cannot do it",
        "create a node group": "what nodes need to join is hidden in the stack's parameters",
        "delete a node group": None,
        "soft and hard reboot": None,
        "check health": None,
        "delete": None,
        "rebuild": "nodes set themselves up only at their first boot, by their software deployment",
        "upgrade": "Magnum removed it from these templates; move workloads to a new cluster",
        "rotate credential": None,
        "rotate ca": "the nodes' certificates are a part of Magnum's template",
    }


def _obstacles(stacks: Iterable[StackRecord]) -> Iterable[str]:
    for one in stacks:
        state = one.state
        action, _, outcome = state.status.rpartition("_")
        if outcome == "PROGRESS":
            yield f"Stack {state.name} is {state.status}. Wait until Heat is done with it."
        elif outcome == "FAILED":
            yield (
                f"Stack {state.name} is {state.status}: {state.reason or 'Heat gives no reason'}. "
                "Mend the cause, then `openstack stack update --existing` it until it is complete."
            )
        elif action not in _GOOD:
            yield f"Stack {state.name} is {state.status}. Resume it first."
