"""Runs the jobs of drivers as executions of a workbook."""

import time
from hashlib import sha256
from uuid import NAMESPACE_URL, uuid5

import structlog
import yaml

from jeroboam.drivers.base import DriverContext, Poller
from jeroboam.drivers.mistral.client import Mistral
from jeroboam.drivers.mistral.executions import Execution, description
from jeroboam.drivers.mistral.poller import MistralPoller
from jeroboam.drivers.nodes.files import Files
from jeroboam.drivers.servers import tokens
from jeroboam.drivers.servers.engine import Engine, Job
from jeroboam.errors import CloudUnavailableError, ConflictError
from jeroboam.models import Cluster

WORKBOOK = "workbook.yaml"

WAIT_SECONDS = 60.0
PAUSE_SECONDS = 1.0

_DIGEST = 12

log = structlog.get_logger(__name__)


class MistralEngine(Engine):
    """One execution at a time for each cluster."""

    def submit(self, context: DriverContext, job: Job) -> bool:
        """Start an execution, unless the call's last one is at work or has ended well."""
        mistral = Mistral(context.cloud)
        known = mistral.executions(job.cluster.uuid)
        mine = [one for one in known if one.key == job.key]
        if mine and _goes_well(mine[0]):
            return False
        for one in known:
            if not one.ended:
                _stop(mistral, one)
        name, text = workbook(job.files)
        mistral.ensure_workbook(name, text)
        owner = context.cloud.tenant_session(job.cluster.trust_id)
        seconds = tokens.renew(owner)
        mistral.start(
            ident=str(uuid5(NAMESPACE_URL, f"{job.cluster.uuid}:{job.key}:{len(mine)}")),
            workflow=f"{name}.{job.work}",
            order=job.order(),
            description=description(job.cluster.uuid, job.key, seconds),
            owner=owner,
        )
        log.info("mistral_execution_started", cluster=job.cluster.uuid, work=job.work.value)
        _forget(mistral, [one for one in known if one.key != job.key])
        return True

    def has_done(self, context: DriverContext, cluster: Cluster, key: str) -> bool:
        """Tell whether the last execution of a call has ended well."""
        known = Mistral(context.cloud).executions(cluster.uuid)
        mine = [one for one in known if one.key == key]
        return bool(mine) and mine[0].state == "SUCCESS"

    def poller(self) -> Poller:
        """Return Mistral's poller."""
        return MistralPoller()


def workbook(files: Files) -> tuple[str, str]:
    """Return the workbook of a driver and its name, which holds a digest of it.

    Workbooks are shared by all clusters that were built from the same text, and those of other
    versions of the driver are beside them.
    """
    text = files.read(WORKBOOK)
    document = yaml.safe_load(text)
    digest = sha256(text.encode()).hexdigest()[:_DIGEST]
    document["name"] = f"{document['name']}_{digest}"
    return document["name"], yaml.safe_dump(document, sort_keys=False)


def _goes_well(last: Execution) -> bool:
    return last.state == "SUCCESS" or not (last.ended or last.outlives_its_token)


def _stop(mistral: Mistral, execution: Execution) -> None:
    """Stop an execution and wait until none of its actions is at work any more.

    What it makes after it was stopped would be in nobody's order.
    """
    mistral.cancel(execution.id)
    deadline = time.monotonic() + WAIT_SECONDS
    while working := mistral.working_actions(execution.id):
        if time.monotonic() > deadline:
            raise CloudUnavailableError(
                f"Mistral has not ended what it was at yet: {', '.join(sorted(set(working)))}."
            )
        time.sleep(PAUSE_SECONDS)
    log.info("mistral_execution_stopped", cluster=execution.cluster, work=execution.work)


def _forget(mistral: Mistral, executions: list[Execution]) -> None:
    """Remove earlier executions of a cluster; their input is no longer needed."""
    for one in executions:
        try:
            mistral.delete(one.id)
        except ConflictError:
            log.info("mistral_execution_kept", id=one.id)
