"""Finds the master of Mesos that leads: only that one knows agents and tasks.

The gate of each master leads to the Mesos beside it, and a Mesos that does not lead sends callers
on to the leader's port in the cluster's own network, where Jeroboam cannot follow.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from jeroboam.drivers.base import ClusterSecrets
from jeroboam.drivers.docker.client import EngineApi
from jeroboam.errors import ClusterUnreachableError
from jeroboam.models import ClusterSpec

ELECTED = "master/elected"
METRICS = "/mesos/metrics/snapshot"


@contextmanager
def leading(spec: ClusterSpec, secrets: ClusterSecrets) -> Iterator[EngineApi]:
    """Yield the API of the master that leads.

    Raises:
        ClusterUnreachableError: None that can be reached does.
    """
    reason = "no master says that it leads"
    for address in _addresses(spec):
        try:
            api = EngineApi.of(address, secrets)
            elected = _leads(api)
        except ClusterUnreachableError as error:
            reason = error.message
            continue
        with api:
            if elected:
                yield api
                return
    raise ClusterUnreachableError(f"The leader of Mesos cannot be asked: {reason}")


def _leads(api: EngineApi) -> bool:
    answer = api.read(METRICS)
    return isinstance(answer, dict) and bool(answer.get(ELECTED))


def _addresses(spec: ClusterSpec) -> Iterator[str]:
    """Yield where a master may answer: a load balancer has another one behind it each time."""
    address, masters = spec.cluster.api_address, spec.masters.nodes
    if not address:
        raise ClusterUnreachableError("The address of the cluster's API is not known.")
    for _ in range(max(1, spec.masters.node_count)):
        yield address
    port = urlsplit(address).port or 443
    for node in masters if len(masters) > 1 else ():
        for own in node.addresses:
            yield f"https://[{own}]:{port}" if ":" in own else f"https://{own}:{port}"
