"""How a cluster of Mesos is: whether a master and Marathon answer behind the gate."""

from jeroboam.drivers.base import ClusterSecrets
from jeroboam.drivers.docker.client import EngineApi, unknown
from jeroboam.drivers.nodes.health import Components
from jeroboam.errors import JeroboamError
from jeroboam.models import HealthStatus

_PATHS = {"mesos": "/mesos/health", "marathon": "/ping", "leader": "/v2/leader"}
"""Marathon answers a ping without a leader as well, but starts nothing then."""


def components(api_address: str | None, secrets: ClusterSecrets) -> Components:
    """Ask a master of Mesos and Marathon whether they are well."""
    if not api_address:
        reason = "the address of the API is not known"
        return dict.fromkeys(_PATHS, (HealthStatus.UNKNOWN, reason))
    try:
        with EngineApi.of(api_address, secrets) as api:
            return {name: api.probe(path) for name, path in _PATHS.items()}
    except JeroboamError as error:
        return dict.fromkeys(_PATHS, unknown(error))
