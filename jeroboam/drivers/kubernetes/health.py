"""How a Kubernetes cluster's API answers."""

import http.client
import ssl
from urllib.parse import urlsplit

from jeroboam.drivers.nodes.health import LONGEST_REASON, Components
from jeroboam.models import HealthStatus

TIMEOUT_SECONDS = 10.0
API = "api"


def components(api_address: str | None, authority: str) -> Components:
    """Ask the API whether it is ready.

    Args:
        authority: PEM certificate of the authority that signed the API's.
    """
    return {API: _api(api_address, authority)}


def _api(address: str | None, authority: str) -> tuple[HealthStatus, str]:
    if not address:
        return HealthStatus.UNKNOWN, "the address of the API is not known"
    try:
        status, body = _ask(address, authority)
    except ssl.SSLCertVerificationError as error:
        # Somebody else answers: a proxy, or who has the address now.
        reason = f"{address} has no certificate of this cluster: {error.verify_message}"
        return HealthStatus.UNKNOWN, reason[:LONGEST_REASON]
    except (OSError, http.client.HTTPException) as error:
        reason = f"{address} cannot be reached: {error or type(error).__name__}"
        return HealthStatus.UNKNOWN, reason[:LONGEST_REASON]
    if status == http.HTTPStatus.OK:
        return HealthStatus.HEALTHY, "ok"
    if status in {http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.FORBIDDEN}:
        return HealthStatus.UNKNOWN, f"the API does not tell strangers how it is (HTTP {status})"
    return HealthStatus.UNHEALTHY, f"the API is not ready: HTTP {status} {body}"[:LONGEST_REASON]


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
