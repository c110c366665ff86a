"""The runs of playbooks tell of themselves in files; nobody has to be asked."""

from collections.abc import Mapping, Sequence

from jeroboam.drivers.ansible import runs
from jeroboam.drivers.ansible.runs import Run
from jeroboam.drivers.base import CloudAccess, Phase, Poller, Progress, Watch
from jeroboam.drivers.heat import node_progress
from jeroboam.drivers.servers.engine import job_key
from jeroboam.models import Method

_LONGEST = 500


class AnsiblePoller(Poller):
    """Reads the folders of runs."""

    def poll(self, cloud: CloudAccess, watches: Sequence[Watch]) -> Mapping[str, Progress]:
        """Return the progress of each watch by ``cluster_id``; reboots are asked of Nova."""
        reboots = [watch for watch in watches if watch.method is Method.REBOOT_NODES]
        others = [watch for watch in watches if watch.method is not Method.REBOOT_NODES]
        found = {watch.cluster_id: _progress(watch) for watch in others}
        return {**found, **node_progress.poll(cloud, reboots)}


def _progress(watch: Watch) -> Progress:
    run = Run(watch.cluster_id, job_key(watch.method, watch.key))
    # Asked first: a run that ends between the two questions is found ended.
    at_work = run.at_work()
    status = run.status
    if status.get("succeeded"):
        done = Phase.GONE if watch.method.removes else Phase.DONE
        return Progress(phase=done, message="The playbook has ended")
    if at_work:
        return Progress(phase=Phase.RUNNING, message=run.progress[:_LONGEST])
    if status:
        faults = {str(k): str(v) for k, v in (status.get("faults") or {}).items()}
        words = "; ".join(f"{host}: {reason}" for host, reason in faults.items())
        return Progress(phase=Phase.FAILED, message=words[:_LONGEST], faults=faults)
    if run.started:
        # Whoever was killed could not do it.
        run.clean()
        return Progress(phase=Phase.INTERRUPTED, message="The playbook was broken off")
    if runs.of_cluster(watch.cluster_id):
        return Progress(phase=Phase.INTERRUPTED, message="No playbook was started for the call")
    return Progress(phase=Phase.GONE, message="No playbook was ever run for the cluster")
