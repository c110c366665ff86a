"""Has Senlin make and remove the servers of clusters; each node group is a cluster of Senlin's."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import structlog
from openstack.connection import Connection

from jeroboam.drivers.base import DriverContext, Phase, Poller
from jeroboam.drivers.heat import clients
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.drivers.senlin import acquaintance, profiles
from jeroboam.drivers.senlin.client import Senlin
from jeroboam.drivers.senlin.groups import Groups
from jeroboam.drivers.senlin.network import Network
from jeroboam.drivers.senlin.poller import SenlinPoller, made
from jeroboam.drivers.senlin.readiness import Readiness
from jeroboam.drivers.senlin.records import Objects, Record
from jeroboam.drivers.servers.engine import Engine, Job, Work
from jeroboam.errors import CloudUnavailableError, ConflictError
from jeroboam.models import Cluster

WAIT_SECONDS = 60.0
PAUSE_SECONDS = 1.0

_GOES_WELL = frozenset({Phase.RUNNING, Phase.DONE})

log = structlog.get_logger(__name__)


class SenlinEngine(Engine):
    """What a call wants is asked for whole; Senlin's own locks bring it into an order."""

    def submit(self, context: DriverContext, job: Job) -> bool:
        """Ask for what is missing, unless the call's last attempt is at work or has ended well."""
        connection = clients.connection(context.cloud, job.cluster.trust_id)
        if job.work is Work.REBUILD:
            return Readiness(connection, job.cluster.uuid).rebuild(job.order()["nodes"])
        senlin = Senlin(context.cloud, context.cloud.tenant_session(job.cluster.trust_id))
        groups = Groups(senlin, job.cluster)
        record = groups.record()
        if job.work is Work.DESTROY and groups.empty():
            groups.forget_profiles()
            return False
        if record and record.call == job.key and _phase(groups, record) in _GOES_WELL:
            return False
        groups = _settled(senlin, groups, job)
        if job.work is Work.DESTROY:
            _destroy(groups, job)
            return True
        if groups.record() is None:
            acquaintance.check(context.cloud, job.cluster)
        _apply(connection, groups, job)
        return True

    def has_done(self, context: DriverContext, cluster: Cluster, key: str) -> bool:
        """Tell whether a call has ended well, or there is nothing left that it could be about."""
        groups = Groups(Senlin(context.cloud), cluster)
        record = groups.record()
        if groups.empty() or record is None:
            return groups.empty()
        return record.call == key and _phase(groups, record) is Phase.DONE

    def leftovers(self, context: DriverContext, cluster: Cluster) -> Sequence[str]:
        """List what Senlin still has of a cluster."""
        return Groups(Senlin(context.cloud), cluster).leftovers()

    def poller(self) -> Poller:
        """Return Senlin's poller."""
        return SenlinPoller()


def _phase(groups: Groups, record: Record) -> Phase:
    return made(record, groups.nodes, groups.clusters, groups.actions(record)).phase


def _settled(senlin: Senlin, groups: Groups, job: Job) -> Groups:
    """Wait until Senlin is at work on no node, and return the groups as they are then.

    The server of a node that is deleted in the middle of its creation would be in nobody's list.
    Whoever deletes the cluster finds it by its name, and may do so when Senlin has lost a node.
    """
    deadline = time.monotonic() + WAIT_SECONDS
    while busy := groups.at_work():
        if time.monotonic() > deadline:
            if job.work is Work.DESTROY:
                return groups
            names = ", ".join(sorted(busy))
            raise CloudUnavailableError(f"Senlin has not ended what it was at yet: {names}.")
        time.sleep(PAUSE_SECONDS)
        groups = Groups(senlin, job.cluster)
    return groups


def _apply(connection: Connection, groups: Groups, job: Job) -> None:
    """Have a cluster get the nodes that are ordered, and lose those that are too many."""
    order, common = job.order(), profiles.read(job.files)
    servers, surplus = order["servers"], order["surplus"]
    names = [one["name"] for one in servers]
    if (record := groups.record()) is None and not servers:
        raise ConflictError("Senlin has no record of the cluster any more. Delete the cluster.")
    record = groups.begin(record or groups.make_record(profiles.of_groups(common, order)), names)
    leaving = groups.leaving(surplus, servers)
    record = groups.remove(replace(record, ports=tuple(surplus["ports"])), leaving)
    _remove_strays(connection, surplus, leaving)
    network = Network(connection)
    network.remove_floating_ips(surplus["floating_ips"])
    places = network.build(order)
    for server in servers:
        if server["id"] is None:
            spec = profiles.of_server(common, order, server, places)
            groups.make(record, server, spec, job.timeout_minutes)
    groups.finish(record, job.key, names)
    log.info("senlin_asked", cluster=job.cluster.uuid, nodes=len(names), leaving=len(leaving))


def _destroy(groups: Groups, job: Job) -> None:
    """Have all clusters of Senlin's deleted; profiles go when the call comes again."""
    if (record := groups.record()) is None:
        # Somebody has taken it away. Without it the call is asked for until nothing is left.
        groups.delete_all()
        return
    record = groups.remove(groups.begin(record, []), groups.nodes)
    groups.finish(record, job.key, [])
    log.info("senlin_asked", cluster=job.cluster.uuid, nodes=0, leaving=len(groups.nodes))


def _remove_strays(connection: Connection, surplus: Mapping[str, Any], leaving: Objects) -> None:
    """Remove the servers that nobody wants and that Senlin does not know."""
    known = {node.get("physical_id") for node in leaving}
    compute: Any = connection.compute
    with translate_cloud_errors("Nova"):
        for ident in surplus["servers"]:
            if ident not in known:
                compute.delete_server(ident, ignore_missing=True)
