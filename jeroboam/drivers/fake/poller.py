"""Reports how far the pretended backend is."""

from collections.abc import Mapping, Sequence

from jeroboam.drivers.base import CloudAccess, Phase, Poller, Progress, Watch
from jeroboam.drivers.fake.backend import FakeBackend
from jeroboam.drivers.fake.cluster import FakeCluster
from jeroboam.drivers.fake.records import Work, WorkState
from jeroboam.models import Method


class FakePoller(Poller):
    """Reads the clusters' files."""

    def __init__(self, backend: FakeBackend) -> None:
        self._backend = backend

    def poll(self, cloud: CloudAccess, watches: Sequence[Watch]) -> Mapping[str, Progress]:
        """Report how far the work of each watch is."""
        return {
            watch.cluster_id: _progress(self._backend.read(watch.cluster_id), watch)
            for watch in watches
        }


def _progress(cluster: FakeCluster, watch: Watch) -> Progress:
    if not cluster.exists:
        return Progress(phase=Phase.GONE, message="The fake cluster does not exist.")
    if watch.method is Method.DELETE_NODE_GROUP and watch.node_group not in cluster.groups:
        return Progress(phase=Phase.GONE, message="The fake node group does not exist.")
    work = cluster.work(watch.key, watch.method)
    if work is not None:
        return _of(work)
    return Progress(phase=Phase.INTERRUPTED, message="Nothing of the kind is under way.")


def _of(work: Work) -> Progress:
    match work.state:
        case WorkState.RUNNING:
            return Progress(phase=Phase.RUNNING, message=f"Pretending: {work.call}.")
        case WorkState.FAILED:
            faults = {work.culprit: work.reason} if work.culprit else {}
            return Progress(phase=Phase.FAILED, message=work.reason, faults=faults)
        case WorkState.DONE:
            phase = Phase.GONE if work.method.removes else Phase.DONE
            return Progress(phase=phase, message="Pretended.")
        case WorkState.OVERTAKEN:
            message = "Something else has been asked for since."
            return Progress(phase=Phase.INTERRUPTED, message=message)
        case WorkState.INTERRUPTED:
            message = "The fake backend was restarted."
            return Progress(phase=Phase.INTERRUPTED, message=message)
