"""One list of Senlin's nodes and one of its clusters answer for all clusters of a cloud."""

from collections.abc import Mapping, Sequence
from typing import Any

from jeroboam.drivers.base import CloudAccess, Phase, Poller, Progress, Watch
from jeroboam.drivers.heat import clients, node_progress
from jeroboam.drivers.senlin.client import Senlin
from jeroboam.drivers.senlin.network import Network
from jeroboam.drivers.senlin.readiness import Readiness
from jeroboam.drivers.senlin.records import Objects, Record, creation, removal
from jeroboam.drivers.servers.engine import job_key
from jeroboam.errors import CredentialRejectedError
from jeroboam.models import Method

_OF_NOVA = frozenset({Method.REBOOT_NODES, Method.REBUILD_NODES})


class SenlinPoller(Poller):
    """Asks Senlin about nodes, and Nova about those that Senlin is done with."""

    def poll(self, cloud: CloudAccess, watches: Sequence[Watch]) -> Mapping[str, Progress]:
        """Return the progress of each watch by ``cluster_id``; reboots are asked of Nova."""
        reboots = [watch for watch in watches if watch.method is Method.REBOOT_NODES]
        others = [watch for watch in watches if watch.method not in _OF_NOVA]
        found = dict(node_progress.poll(cloud, reboots))
        if others:
            look = _Look(cloud, others)
            found |= {one.cluster_id: look.progress(one) for one in others}
        for watch in watches:
            if watch.method is Method.REBUILD_NODES:
                found[watch.cluster_id] = _rebuild(cloud, watch)
        return found


class _Look:
    """One look at all clusters."""

    def __init__(self, cloud: CloudAccess, watches: Sequence[Watch]) -> None:
        self._cloud = cloud
        self._senlin = Senlin(cloud)
        # Read first: a call is noted only when all that it makes is there to be seen.
        owners = [(watch.cluster_id, watch.project_id) for watch in watches]
        self._records = self._senlin.records(owners)
        self._list()

    def progress(self, watch: Watch) -> Progress:
        """Return how far one call is."""
        record = self._records.get(watch.cluster_id)
        nodes, clusters = self._there(watch)
        nothing = not nodes and not clusters
        if nothing and (record is None or watch.method is Method.DELETE_CLUSTER):
            return Progress(phase=Phase.GONE, message="Senlin has nothing of this cluster")
        if record is None or record.call != job_key(watch.method, watch.key):
            return Progress(phase=Phase.INTERRUPTED, message="The call never came whole to Senlin")
        found = self._made(watch, record)
        if found.phase is not Phase.DONE:
            return found
        return self._set_up(watch, record, found)

    def _set_up(self, watch: Watch, record: Record, found: Progress) -> Progress:
        """Return how far the nodes are, now that Senlin is done; ports that are free now go."""
        try:
            connection = clients.connection(self._cloud, watch.trust_id)
        except CredentialRejectedError as error:
            return Progress(phase=Phase.FAILED, message=error.message)
        Network(connection).remove_ports(record.ports)
        if watch.method.removes:
            return Progress(phase=Phase.GONE, message=found.message)
        return Readiness(connection, watch.cluster_id).of(record.wanted)

    def _made(self, watch: Watch, record: Record) -> Progress:
        nodes, clusters = self._there(watch)
        actions = self._actions(record, (*nodes, *clusters))
        found = made(record, nodes, clusters, actions)
        if found.phase is Phase.FAILED and actions:
            # One that ended after the lists were read has removed what still stands in them.
            self._list()
            found = made(record, *self._there(watch), actions)
        return found

    def _list(self) -> None:
        self._nodes = self._senlin.nodes()
        self._clusters = self._senlin.clusters()

    def _there(self, watch: Watch) -> tuple[Objects, Objects]:
        nodes = _of_project(self._nodes.get(watch.cluster_id, ()), watch)
        return nodes, _of_project(self._clusters.get(watch.cluster_id, ()), watch)

    def _actions(self, record: Record, there: Objects) -> Objects:
        if not any(one["id"] in record.leaving for one in there):
            return ()
        return [self._senlin.action(one) for one in record.actions]


def made(record: Record, nodes: Objects, clusters: Objects, actions: Objects) -> Progress:
    """Return how far a call is, so far as Senlin can tell: a failure only when all is quiet."""
    parts = (removal(record, (*nodes, *clusters), actions), creation(record, nodes))
    for phase in (Phase.RUNNING, Phase.FAILED, Phase.INTERRUPTED):
        for one in parts:
            if one.phase is phase:
                return one
    return parts[1]


def _of_project(objects: Sequence[Mapping[str, Any]], watch: Watch) -> Objects:
    """Leave out what another project has given the same marks."""
    return [one for one in objects if one.get("project") == watch.project_id]


def _rebuild(cloud: CloudAccess, watch: Watch) -> Progress:
    try:
        readiness = Readiness(clients.connection(cloud, watch.trust_id), watch.cluster_id)
        return readiness.after_rebuild(watch.nodes, job_key(watch.method, watch.key))
    except CredentialRejectedError as error:
        return Progress(phase=Phase.FAILED, message=error.message)
