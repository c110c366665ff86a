"""Gives the API of each cluster a name in the DNS service (Designate) of its owner's project."""

import ipaddress
import re
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from openstack.connection import Connection
from openstack.dns.v2._proxy import Proxy
from openstack.dns.v2.zone import Zone
from pydantic import Field, StringConstraints

from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import ConflictError, NotFoundError
from jeroboam.hooks.base import Hook, HookEvent, HookResult, Outbound
from jeroboam.hooks.options import parsed
from jeroboam.models import Cluster, FailurePolicy, HookPhase, Model, OperationKind

CLUSTER = "{cluster}"
LONGEST_LABEL = 63
EXAMPLE = "For example: zone: clusters.example.org."

_Zone = Annotated[str, StringConstraints(pattern=r"^([a-z0-9_]([a-z0-9_-]*[a-z0-9])?\.)+$")]
_Name = Annotated[str, StringConstraints(pattern=r"^([a-z0-9-]|\{cluster\})+$")]


class Options(Model):
    """The options of its declaration.

    Args:
        zone: Name of the zone, with the final dot.
        name: The name within the zone; ``{cluster}`` is the cluster's name.
        ttl: In seconds.
    """

    zone: _Zone
    name: _Name = CLUSTER
    ttl: Annotated[int, Field(ge=1, le=2**31 - 1)] = 300


class DnsHook(Hook):
    """Keeps an A or AAAA record for the API address; removes it with the cluster.

    A record bears the cluster's uuid in its description, and others are never touched.
    """

    name = "dns"
    phases = (HookPhase.AFTER,)
    operations = tuple(kind for kind in OperationKind if kind is not OperationKind.CHECK_HEALTH)
    timeout_seconds = 300
    # A cluster without a name works, and one that is gone should not stay because of a record.
    on_failure = FailurePolicy.WARN
    automatic = False

    def run(self, event: HookEvent) -> HookResult:
        """Create, correct or remove the record."""
        options, cluster = _options(event.options), event.spec.cluster
        address = None if event.operation.deletes else _address(cluster)
        if address is None and not event.operation.deletes:
            return HookResult(message="The cluster's API has no IP address, so it gets no name.")
        with translate_cloud_errors("Designate"):
            proxy = _proxy(event)
            zone = next(iter(proxy.zones(name=options.zone)), None)
            if zone is None:
                return _without_zone(event, options)
            return HookResult(message=_apply(proxy, zone, cluster, options, address))

    def check(self, options: Mapping[str, Any], secret: str | None, outbound: Outbound) -> None:
        """Check the options."""
        _options(options)


def record_name(options: Options, cluster: Cluster) -> str:
    """Return the name of a cluster's record, with the final dot."""
    label = re.sub(r"[^a-z0-9-]+", "-", cluster.name.lower()).strip("-") or cluster.uuid
    return f"{options.name.replace(CLUSTER, label)[:LONGEST_LABEL].strip('-')}.{options.zone}"


def _options(given: Mapping[str, Any]) -> Options:
    return parsed(Options, given, "dns", example=EXAMPLE)


def _address(cluster: Cluster) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(urlsplit(cluster.api_address or "").hostname or "")
    except ValueError:
        return None


def _proxy(event: HookEvent) -> Proxy:
    session = event.cloud.tenant_session(event.spec.cluster.trust_id)
    connection = Connection(
        session=session,
        region_name=event.cloud.region,
        default_interface=event.cloud.interface,
    )
    proxy: Proxy = connection.dns
    return proxy


def _without_zone(event: HookEvent, options: Options) -> HookResult:
    if event.operation.deletes:
        return HookResult(message=f"The zone {options.zone} is gone, and its records with it.")
    raise NotFoundError(
        f"The project has no DNS zone {options.zone} Make it, or share it with the project."
    )


def _apply(
    proxy: Proxy,
    zone: Zone,
    cluster: Cluster,
    options: Options,
    address: ipaddress.IPv4Address | ipaddress.IPv6Address | None,
) -> str:
    """Make the records what they should be; return what was done."""
    name, mark = record_name(options, cluster), _mark(cluster)
    found = [one for one in proxy.recordsets(zone, description=mark) if one.description == mark]
    wanted = {} if address is None else _wanted(name, address, options, mark)
    keep = next((one for one in found if (one.name, one.type) == (name, wanted.get("type"))), None)
    for one in found:
        if one is not keep:
            proxy.delete_recordset(one, zone)
    if address is None:
        return "The name was removed." if found else "There was no name to remove."
    if keep is None:
        _create(proxy, zone, wanted)
    elif list(keep.records) != wanted["records"] or keep.ttl != options.ttl:
        proxy.update_recordset(keep, records=wanted["records"], ttl=options.ttl)
    return f"{name} is {address}."


def _create(proxy: Proxy, zone: Zone, wanted: Mapping[str, Any]) -> None:
    if list(proxy.recordsets(zone, name=wanted["name"], type=wanted["type"])):
        raise ConflictError(
            f"The name {wanted['name']} belongs to something else. Give the cluster another name, "
            "or the hook another 'name'."
        )
    proxy.create_recordset(zone, **wanted)


def _wanted(
    name: str,
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
    options: Options,
    mark: str,
) -> dict[str, Any]:
    return {
        "name": name,
        "type": "A" if isinstance(address, ipaddress.IPv4Address) else "AAAA",
        "records": [str(address)],
        "ttl": options.ttl,
        "description": mark,
    }


def _mark(cluster: Cluster) -> str:
    return f"jeroboam cluster {cluster.uuid}"
