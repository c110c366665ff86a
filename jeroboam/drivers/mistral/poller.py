"""One list call of Mistral answers for all clusters of a cloud."""

import time
from collections.abc import Mapping, Sequence

import structlog

from jeroboam.drivers.base import CloudAccess, Phase, Poller, Progress, Watch
from jeroboam.drivers.heat import node_progress
from jeroboam.drivers.mistral.client import Mistral
from jeroboam.drivers.mistral.executions import RUNNING, Execution
from jeroboam.drivers.servers.engine import job_key
from jeroboam.models import Method

IDLE_SECONDS = 30.0
"""How long an execution is believed in that does nothing; between two tasks it is less than one."""

log = structlog.get_logger(__name__)


class MistralPoller(Poller):
    """Lists the executions of Jeroboam's own project.

    A Mistral that dies between the end of a task and the beginning of the next one forgets the next
    one, and the execution stays RUNNING for ever. It is cancelled here, and so begun again.
    """

    def __init__(self) -> None:
        self._idle_since: dict[str, float] = {}

    def poll(self, cloud: CloudAccess, watches: Sequence[Watch]) -> Mapping[str, Progress]:
        """Return the progress of each watch by ``cluster_id``; reboots are asked of Nova."""
        reboots = [watch for watch in watches if watch.method is Method.REBOOT_NODES]
        others = [watch for watch in watches if watch.method is not Method.REBOOT_NODES]
        found = dict(node_progress.poll(cloud, reboots))
        if others:
            mistral = Mistral(cloud)
            known = _by_cluster(mistral.executions())
            watched = {one.cluster_id: _execution(known, one) for one in others}
            self._cancel_forgotten(mistral, [one for one in watched.values() if one])
            found |= {one.cluster_id: _progress(known, one) for one in others}
        return found

    def _cancel_forgotten(self, mistral: Mistral, executions: Sequence[Execution]) -> None:
        running = {one.id: one for one in executions if one.state == RUNNING}
        idle = running.keys() - mistral.executions_at_work() if running else set()
        now = time.monotonic()
        self._idle_since = {ident: self._idle_since.get(ident, now) for ident in idle}
        for ident, since in self._idle_since.items():
            if now - since >= IDLE_SECONDS:
                log.warning("mistral_execution_forgotten", cluster=running[ident].cluster)
                mistral.cancel(ident)


def _by_cluster(executions: Sequence[Execution]) -> Mapping[str, Sequence[Execution]]:
    index: dict[str, list[Execution]] = {}
    for one in executions:
        index.setdefault(one.cluster, []).append(one)
    return index


def _execution(known: Mapping[str, Sequence[Execution]], watch: Watch) -> Execution | None:
    key = job_key(watch.method, watch.key)
    return next((one for one in known.get(watch.cluster_id, ()) if one.key == key), None)


def _progress(known: Mapping[str, Sequence[Execution]], watch: Watch) -> Progress:
    if not known.get(watch.cluster_id):
        return Progress(phase=Phase.GONE, message="Mistral has no workflow of this cluster")
    mine = _execution(known, watch)
    if mine is None:
        return Progress(phase=Phase.INTERRUPTED, message="The call never came to Mistral")
    return mine.progress(removes=watch.method.removes)
