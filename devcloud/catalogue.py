"""The services: what each one is called, where it listens and which sets exist."""

from dataclasses import dataclass

from devcloud.errors import UsageError

REGION = "RegionOne"


@dataclass(frozen=True, slots=True)
class Service:
    """One entry of Keystone's catalogue.

    Attributes:
        name: Name of the service and of its service user.
        type: Service type in the catalogue.
        port_offset: Added to the port base.
        path: What follows host and port in the catalogue's URL.
    """

    name: str
    type: str
    port_offset: int
    path: str = ""


SERVICES = {
    service.name: service
    for service in (
        Service("keystone", "identity", 0, "/v3"),
        Service("glance", "image", 92),
        Service("placement", "placement", 78),
        Service("neutron", "network", 96),
        Service("nova", "compute", 74, "/v2.1"),
        Service("heat", "orchestration", 4, "/v1/%(project_id)s"),
        Service("mistral", "workflowv2", 89, "/v2"),
        Service("senlin", "clustering", 77),
        Service("barbican", "key-manager", 93),
    )
}
"""What devcloud runs, in the order of start."""

COMPANIONS = {"heat": (Service("heat-cfn", "cloudformation", 5, "/v1"),)}
"""APIs that live in the process of another service."""

PRODUCT = Service("jeroboam", "container-infra", 11, "/v1")
"""In the catalogue, but started by whoever tries Jeroboam, never by devcloud."""

_FULL = tuple(name for name in SERVICES if name not in {"mistral", "senlin", "barbican"})

SETS = {
    "quick": ("keystone", "glance", "heat"),
    "full": _FULL,
    "mistral": (*_FULL, "mistral"),
    "senlin": (*_FULL, "senlin"),
    "barbican": ("keystone", "barbican"),
}


def apis(service: str) -> tuple[Service, ...]:
    """Return all that listens in the process of a service."""
    return (SERVICES[service], *COMPANIONS.get(service, ()))


def everything() -> dict[str, Service]:
    """Return all that may be in Keystone's catalogue, by name."""
    found = {api.name: api for name in SERVICES for api in apis(name)}
    return found | {PRODUCT.name: PRODUCT}


def find(name: str) -> Service:
    """Look a service up by name.

    Raises:
        UsageError: If there is no such service.
    """
    known = everything()
    if name not in known:
        raise UsageError(
            f"There is no service called {name!r}.", f"Choose from: {', '.join(known)}."
        )
    return known[name]
