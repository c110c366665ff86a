"""How a Kubernetes cluster is: its servers as Nova has them, its API as it answers."""

import http.client
import ssl
from urllib.parse import urlsplit

from jeroboam.models import Health, HealthStatus, Node

TIMEOUT_SECONDS = 10.0
API = "api"

_ACTIVE = "ACTIVE"
_LONGEST_REASON = 200


def check(api_address: str | None, authority: str, nodes: tuple[Node, ...]) -> Health:
    """Return the health.

    A node that Nova does not call ACTIVE, or an API that says that it is not ready, make the
    cluster ``UNHEALTHY``. An API that cannot be reached from here may well be reached by others:
    that is ``UNKNOWN``.

    Args:
        authority: PEM certificate of the authority that signed the API's.
    """
    api_status, api_reason = _api(api_address, authority)
    reasons = {API: api_reason, **{node.name: _of_node(node) for node in nodes}}
    statuses = {api_status, *(_status_of(node) for node in nodes)}
    for status in (HealthStatus.UNHEALTHY, HealthStatus.UNKNOWN):
        if status in statuses:
            return Health(status=status, reasons=reasons)
    return Health(status=HealthStatus.HEALTHY, reasons=reasons)


def silent(reason: str, nodes: tuple[Node, ...] = ()) -> Health:
    """Return the health of a cluster whose cloud does not answer."""
    reasons = {"cloud": reason[:_LONGEST_REASON], **{node.name: "not known" for node in nodes}}
    return Health(status=HealthStatus.UNKNOWN, reasons=reasons)


def _status_of(node: Node) -> HealthStatus:
    return HealthStatus.HEALTHY if node.status == _ACTIVE else HealthStatus.UNHEALTHY


def _of_node(node: Node) -> str:
    return "ok" if node.status == _ACTIVE else f"the server is {node.status}"


def _api(address: str | None, authority: str) -> tuple[HealthStatus, str]:
    if not address:
        return HealthStatus.UNKNOWN, "the address of the API is not known"
    try:
        status, body = _ask(address, authority)
    except ssl.SSLCertVerificationError as error:
        # Somebody else answers: a proxy, or who has the address now.
        reason = f"{address} has no certificate of this cluster: {error.verify_message}"
        return HealthStatus.UNKNOWN, reason[:_LONGEST_REASON]
    except (OSError, http.client.HTTPException) as error:
        reason = f"{address} cannot be reached: {error or type(error).__name__}"
        return HealthStatus.UNKNOWN, reason[:_LONGEST_REASON]
    if status == http.HTTPStatus.OK:
        return HealthStatus.HEALTHY, "ok"
    if status in {http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.FORBIDDEN}:
        return HealthStatus.UNKNOWN, f"the API does not tell strangers how it is (HTTP {status})"
    return HealthStatus.UNHEALTHY, f"the API is not ready: HTTP {status} {body}"[:_LONGEST_REASON]


def _ask(address: str, authority: str) -> tuple[int, str]:
    """Ask the API whether it is ready; nothing is sent that would have to be kept secret."""
    url = urlsplit(address)
    context = ssl.create_default_context(cadata=authority)
    connection = http.client.HTTPSConnection(
        url.hostname or "", url.port or 443, timeout=TIMEOUT_SECONDS, context=context
    )
    try:
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        return answer.status, _first_line(answer.read(4096).decode(errors="replace"))
    finally:
        connection.close()


def _first_line(text: str) -> str:
    failed = [line for line in text.splitlines() if line.startswith("[-]")]
    return "; ".join(failed) or " ".join(text.split())
