"""From what Heat shows of Magnum's stacks to a cluster's record. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from jeroboam.drivers.heat.phases import parse_time
from jeroboam.drivers.importing import ImportWish
from jeroboam.drivers.magnum_heat_v1 import families, version
from jeroboam.drivers.magnum_heat_v1.families import Family
from jeroboam.drivers.magnum_heat_v1.records import StackRecord
from jeroboam.errors import InvalidRequestError
from jeroboam.models import (
    Cluster,
    ClusterSpec,
    ClusterTemplate,
    Identity,
    NodeGroup,
    Status,
    utc_now,
)
from jeroboam.models.cluster import MASTER, WORKER

NEEDED = ("master_flavor",)
"""Parameters without which a stack is none of a whole cluster; others depend on the family."""

_SHORT_ID = re.compile(r"-[a-z0-9]{12}$")
_UNFIT = re.compile(r"[^A-Za-z0-9_.-]")


def cluster_uuid(main: StackRecord) -> str:
    """Return the uuid that Magnum has given to the cluster, or one that is made of the stack's."""
    known = main.text("cluster_uuid") or ""
    try:
        return str(UUID(known))
    except ValueError:
        return str(uuid5(NAMESPACE_URL, f"heat:{main.state.id}"))


def name_of(main: StackRecord) -> str:
    """Return the name that the stack's name was made of: it was cut, and got a short id."""
    name = _UNFIT.sub("-", _SHORT_ID.sub("", main.state.name))
    return name if name[:1].isalpha() else f"c{name}"


def recognise(
    main: StackRecord, groups: Sequence[StackRecord], wish: ImportWish, owner: Identity
) -> ClusterSpec:
    """Return the cluster as its record would be, but for its cloud and trust.

    Raises:
        InvalidRequestError: Something is missing that a record needs.
    """
    family = families.of(main.parameters, main.outputs)
    _require(main, family)
    cluster_id, labels = cluster_uuid(main), labels_of(main)
    template = _template(main, family, owner, wish.name or name_of(main), labels)
    cluster = Cluster(
        uuid=cluster_id,
        name=wish.name or name_of(main),
        project_id=owner.project_id,
        user_id=owner.user_id,
        cluster_template_id=template.uuid,
        keypair=template.keypair_id,
        flavor_id=template.flavor_id,
        master_flavor_id=template.master_flavor_id,
        docker_volume_size=template.docker_volume_size,
        labels=labels,
        discovery_url=main.text("discovery_url"),
        fixed_network=template.fixed_network,
        fixed_subnet=template.fixed_subnet,
        floating_ip_enabled=template.floating_ip_enabled,
        master_lb_enabled=template.master_lb_enabled,
        stack_id=main.state.id,
        status=_status(main),
        status_reason=f"Imported from the stack {main.state.name}.",
        api_address=api_address(main, family),
        coe_version=coe_version(main),
        driver=version.Driver,
        driver_version=version.version,
        cloud="",
        created_at=parse_time(main.created) or utc_now(),
    )
    found = [_masters(main, family, cluster), _workers(main, family, cluster, is_default=True)]
    found += [_workers(one, family, cluster, is_default=False) for one in groups]
    return ClusterSpec(cluster=cluster, template=template, node_groups=tuple(found))


def labels_of(stack: StackRecord) -> Mapping[str, str]:
    """Return the labels that somebody has set: those that are not as the template has them."""
    names = {name: name for name in families.LABELS}
    names[families.SERVICE_PARAMETER] = families.SERVICE_RANGE
    return {
        names[parameter]: value
        for parameter, value in sorted(stack.parameters.items())
        if parameter in names and value and stack.defaults.get(parameter) != value
    }


def api_address(stack: StackRecord, family: Family) -> str | None:
    """Return the URL of the cluster's API."""
    told = stack.outputs.get("api_address") or next(
        iter(stack.addresses(family.master_outputs)), None
    )
    if not told:
        return None
    if "://" in str(told):
        return str(told)
    plain = family.scheme == "https" and stack.flag("tls_disabled")
    port = stack.number("kubernetes_port") or family.port
    return f"{'http' if plain else family.scheme}://{told}:{port}"


def coe_version(stack: StackRecord, *, masters: bool = True) -> str | None:
    """Return the version of the COE that nodes were set up with, where the stack tells."""
    own = "master_kube_tag" if masters else "minion_kube_tag"
    return stack.text(own, "kube_tag", "kube_version")


def _require(main: StackRecord, family: Family) -> None:
    missing = [name for name in (*NEEDED, family.worker_flavor) if not main.text(name)]
    if main.number(family.count) is None:
        missing.append(family.count)
    if not main.text(*family.images):
        missing.append(" or ".join(family.images))
    outputs = [*family.master_outputs[0], *family.worker_outputs[0]]
    lacking = [name for name in outputs if name not in main.outputs]
    sentences = [
        f"It lacks the {what}: {', '.join(names)}."
        for what, names in (("parameters", missing), ("outputs", lacking))
        if names
    ]
    if sentences:
        raise InvalidRequestError(
            f"The stack {main.state.name} is not a whole cluster of Magnum. {' '.join(sentences)}"
        )


def _template(
    main: StackRecord, family: Family, owner: Identity, name: str, labels: Mapping[str, str]
) -> ClusterTemplate:
    public, private = (main.addresses([names]) for names in family.master_outputs)
    address = str(main.outputs.get("api_address") or "")
    return ClusterTemplate(
        uuid=str(uuid5(NAMESPACE_URL, f"template:heat:{main.state.id}")),
        name=f"{name}-imported",
        project_id=owner.project_id,
        user_id=owner.user_id,
        coe=family.coe,
        image_id=str(main.text(*family.images)),
        driver=version.Driver,
        flavor_id=main.text(family.worker_flavor),
        master_flavor_id=main.text("master_flavor"),
        keypair_id=main.text("ssh_key_name"),
        external_network_id=main.text("external_network"),
        fixed_network=main.text("fixed_network"),
        fixed_subnet=main.text("fixed_subnet"),
        dns_nameserver=_name_servers(main),
        network_driver=main.text("network_driver"),
        volume_driver=main.text("volume_driver"),
        apiserver_port=main.number("kubernetes_port"),
        docker_volume_size=main.number("docker_volume_size") or None,
        docker_storage_driver=main.text("docker_storage_driver"),
        http_proxy=main.text("http_proxy"),
        https_proxy=main.text("https_proxy"),
        no_proxy=main.text("no_proxy"),
        insecure_registry=main.text("insecure_registry_url"),
        registry_enabled=main.flag("registry_enabled"),
        tls_disabled=main.flag("tls_disabled"),
        labels=labels,
        # A load balancer has an address of its own in front of the masters.
        master_lb_enabled=bool(address) and address not in {*public, *private},
        floating_ip_enabled=bool(public) and public != private,
    )


def _name_servers(main: StackRecord) -> str | None:
    text = main.text("dns_nameserver")
    return re.sub(r"[\[\]'\"\s]|u(?=')", "", text) if text else None


def _masters(main: StackRecord, family: Family, cluster: Cluster) -> NodeGroup:
    servers = main.of_groups(family.masters)
    return NodeGroup(
        **_shared(main, cluster),
        uuid=_group_uuid(cluster, MASTER),
        name=main.text("master_nodegroup_name") or f"default-{MASTER}",
        role=MASTER,
        is_default=True,
        flavor_id=main.text("master_flavor"),
        image_id=main.text("master_image", *family.images),
        node_count=len(servers) or main.number("number_of_masters") or 1,
        node_addresses=main.addresses(family.master_outputs),
        version=coe_version(main),
    )


def _workers(
    stack: StackRecord, family: Family, cluster: Cluster, *, is_default: bool
) -> NodeGroup:
    name = stack.text("worker_nodegroup_name")
    if name is None:
        name = f"default-{WORKER}" if is_default else name_of(stack)
    return NodeGroup(
        **_shared(stack, cluster),
        uuid=_group_uuid(cluster, stack.state.id),
        name=name,
        role=stack.text("worker_role") or WORKER,
        is_default=is_default,
        flavor_id=stack.text(family.worker_flavor),
        image_id=stack.text(*family.images),
        node_count=stack.number(family.count) or 0,
        node_addresses=stack.addresses(family.worker_outputs),
        version=coe_version(stack, masters=False),
    )


def _shared(stack: StackRecord, cluster: Cluster) -> dict[str, Any]:
    return {
        "cluster_id": cluster.uuid,
        "project_id": cluster.project_id,
        "stack_id": stack.state.id,
        "status": _status(stack),
        "labels": labels_of(stack),
        "docker_volume_size": stack.number("docker_volume_size") or None,
        "created_at": parse_time(stack.created) or utc_now(),
    }


def _group_uuid(cluster: Cluster, what: str) -> str:
    """Return the same uuid every time; that of Magnum is nowhere in a stack."""
    return str(uuid5(UUID(cluster.uuid), what))


def _status(stack: StackRecord) -> Status:
    """Return Magnum's word; Heat also has some for what Magnum never did."""
    created = stack.state.status == "CREATE_COMPLETE"
    return Status.CREATE_COMPLETE if created else Status.UPDATE_COMPLETE
