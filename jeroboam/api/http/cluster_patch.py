"""What a JSON patch of a cluster asks for; Magnum lets three of its properties change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from jeroboam.api.http import patches
from jeroboam.api.http.schemas.base import Count, Labels
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec, HealthStatus
from jeroboam.models.cluster import MASTER

CHANGEABLE = frozenset({"node_count", "health_status", "health_status_reason"})
INTERNAL = patches.INTERNAL | {
    *("api_address", "node_addresses", "master_addresses", "stack_id", "cluster_id"),
    *("ca_cert_ref", "magnum_cert_ref", "etcd_ca_cert_ref", "front_proxy_ca_cert_ref"),
}
NODES_WHEN_REMOVED = 1

_SHOWN = (
    *("name", "cluster_template_id", "keypair", "docker_volume_size", "labels", "merge_labels"),
    *("flavor_id", "master_flavor_id", "create_timeout", "discovery_url", "fixed_network"),
    *("fixed_subnet", "floating_ip_enabled", "master_lb_enabled", "status", "status_reason"),
    *("health_status", "health_status_reason", "coe_version", "container_version", "faults"),
)
_COUNT: TypeAdapter[int] = TypeAdapter(Count)
_REASONS: TypeAdapter[Mapping[str, str]] = TypeAdapter(Labels)


@dataclass(frozen=True)
class HealthReport:
    """What somebody outside found out about a cluster's health."""

    status: HealthStatus | None
    reasons: Mapping[str, str]


@dataclass(frozen=True)
class ClusterChange:
    """What a patch asks for; ``None`` where it does not speak of it."""

    node_count: int | None
    health: HealthReport | None


def read(spec: ClusterSpec, patch: Sequence[patches.PatchOperation]) -> ClusterChange:
    """Return what a patch asks for.

    Raises:
        InvalidRequestError: It is wrong, or asks for more than may change.
    """
    before = _document(spec)
    after = patches.apply(
        before,
        patch,
        mandatory=frozenset({"cluster_template_id"}),
        internal=INTERNAL,
        literals=frozenset({"labels", "health_status_reason"}),
    )
    forbidden = [name for name in before if name not in CHANGEABLE and before[name] != after[name]]
    if forbidden:
        raise InvalidRequestError(f"cannot change cluster property(ies) {', '.join(forbidden)}.")
    named = {operation.parts[0] for operation in patch}
    return ClusterChange(
        node_count=_node_count(after["node_count"]) if "node_count" in named else None,
        health=_health(after) if named & CHANGEABLE - {"node_count"} else None,
    )


def _document(spec: ClusterSpec) -> dict[str, Any]:
    groups = spec.node_groups
    return {
        **spec.cluster.model_dump(mode="json", include=set(_SHOWN)),
        "node_count": sum(group.node_count for group in groups if group.role != MASTER),
        "master_count": spec.masters.node_count,
    }


def _node_count(value: object) -> int:
    if value is None:
        return NODES_WHEN_REMOVED
    try:
        return _COUNT.validate_python(value)
    except ValidationError as error:
        raise _invalid("node_count", value, error) from error


def _health(document: Mapping[str, Any]) -> HealthReport:
    status, reasons = document["health_status"], document["health_status_reason"]
    known = ", ".join(HealthStatus)
    if status is not None and status not in set(HealthStatus):
        raise InvalidRequestError(
            f"Invalid input for field/attribute health_status. Value: '{str(status)[:100]}'. "
            f"Value should be one of: {known}"
        )
    try:
        return HealthReport(status and HealthStatus(status), _REASONS.validate_python(reasons))
    except ValidationError as error:
        raise _invalid("health_status_reason", reasons, error) from error


def _invalid(field: str, value: object, error: ValidationError) -> InvalidRequestError:
    return InvalidRequestError(
        f"Invalid input for field/attribute {field}. Value: '{str(value)[:100]}'. "
        f"{error.errors()[0]['msg']}"
    )
