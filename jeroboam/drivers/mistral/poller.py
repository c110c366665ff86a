"""One list call of Mistral answers for all clusters of a cloud."""

from collections.abc import Mapping, Sequence

from jeroboam.drivers.base import CloudAccess, Phase, Poller, Progress, Watch
from jeroboam.drivers.heat import node_progress
from jeroboam.drivers.mistral.client import Mistral
from jeroboam.drivers.mistral.executions import Execution
from jeroboam.drivers.servers.engine import job_key
from jeroboam.models import Method


class MistralPoller(Poller):
    """Lists the executions of Jeroboam's own project."""

    def poll(self, cloud: CloudAccess, watches: Sequence[Watch]) -> Mapping[str, Progress]:
        """Return the progress of each watch by ``cluster_id``; reboots are asked of Nova."""
        reboots = [watch for watch in watches if watch.method is Method.REBOOT_NODES]
        others = [watch for watch in watches if watch.method is not Method.REBOOT_NODES]
        found = dict(node_progress.poll(cloud, reboots))
        if others:
            known = _by_cluster(Mistral(cloud).executions())
            found |= {one.cluster_id: _progress(known, one) for one in others}
        return found


def _by_cluster(executions: Sequence[Execution]) -> Mapping[str, Sequence[Execution]]:
    index: dict[str, list[Execution]] = {}
    for one in executions:
        index.setdefault(one.cluster, []).append(one)
    return index


def _progress(known: Mapping[str, Sequence[Execution]], watch: Watch) -> Progress:
    mine = known.get(watch.cluster_id, ())
    if not mine:
        return Progress(phase=Phase.GONE, message="Mistral has no workflow of this cluster")
    key = job_key(watch.method, watch.key)
    for one in mine:
        if one.key == key:
            return one.progress(removes=watch.method.removes)
    return Progress(phase=Phase.INTERRUPTED, message="The call never came to Mistral")
