"""cloud.conf: how programs in a cluster log in to its cloud, and what load balancers get. Pure.

The options are those of cloud-provider-openstack, in the format of its library gcfg.
"""

from collections.abc import Mapping
from uuid import UUID

from jeroboam.drivers.base import CloudAccount
from jeroboam.drivers.kubernetes.plan import KubernetesPlan
from jeroboam.errors import InvalidRequestError

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\t": r"\t"})

# gcfg refuses the first and the last one, and drops the other.
_IMPOSSIBLE = frozenset("\0\r\ufeff")


def generate(plan: KubernetesPlan, account: CloudAccount | None) -> str:
    """Return the text of the file; it holds a password.

    Raises:
        InvalidRequestError: There is no account.
    """
    if account is None:
        raise InvalidRequestError(
            "Programs in the cluster need an account of the cloud, and it has none. Set the labels "
            "cloud_provider_enabled and cinder_csi_enabled to false, or build the cluster where "
            "the operator has set JEROBOAM_TRUSTEE_DOMAIN."
        )
    sections = {
        "Global": _login(account),
        "LoadBalancer": _load_balancer(plan) if plan.has_cloud_provider else {},
    }
    return "\n".join(_section(name, options) for name, options in sections.items() if options)


def quoted(value: str) -> str:
    """Return a value as gcfg reads it, whatever characters it has.

    Raises:
        InvalidRequestError: It has one that gcfg knows no way to write.
    """
    if _IMPOSSIBLE.intersection(value):
        # The value may be a password.
        raise InvalidRequestError(
            "The cloud's account has a character that no cloud.conf can hold."
        )
    return f'"{value.translate(_ESCAPES)}"'


def _login(account: CloudAccount) -> Mapping[str, str]:
    """Return how one logs in; the trust says in which project, so no project is named."""
    options = {
        "auth-url": account.auth_url,
        "user-id": account.user_id,
        "password": account.password,
        "trust-id": account.trust_id,
    }
    return options | ({"region": account.region} if account.region else {})


def _load_balancer(plan: KubernetesPlan) -> Mapping[str, str]:
    """Return how load balancers of services are made: as that of the API."""
    provider, algorithm = plan.labels["octavia_provider"], plan.labels["octavia_lb_algorithm"]
    options = {"create-monitor": str(plan.labels["octavia_lb_healthcheck"]).lower()}
    if provider:
        options["lb-provider"] = str(provider)
    if provider or algorithm:
        options["lb-method"] = plan.balancing
    external = plan.spec.template.external_network_id or ""
    # The option takes no name. Without it the program looks for an external network itself.
    return options | ({"floating-network-id": external} if _is_id(external) else {})


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _section(name: str, options: Mapping[str, str]) -> str:
    lines = (f"{option}={quoted(value)}\n" for option, value in options.items())
    return f"[{name}]\n{''.join(lines)}"
