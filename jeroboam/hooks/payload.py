"""What webhooks and commands are told of an operation, as JSON. Pure."""

import json
from typing import Any

from jeroboam.hooks.base import HookEvent
from jeroboam.models import ClusterSpec, NodeGroup
from jeroboam.models.hook import without_secrets


def encode(name: str, event: HookEvent) -> bytes:
    """Return the JSON document of an event, the same on every attempt.

    Labels whose names look secret are there without their values.

    Args:
        name: Of the hook.
    """
    document = {
        "type": f"cluster.{event.operation}.{event.phase}",
        "hook": name,
        "idempotency_key": event.idempotency_key,
        "callback_url": event.callback_url,
        "operation": {
            "id": event.operation_id,
            "kind": event.operation,
            "phase": event.phase,
            "parameters": _parameters(event),
            "failure": event.failure,
        },
        "cluster": _cluster(event.spec),
        "options": dict(event.options),
    }
    return json.dumps(document, sort_keys=True).encode()


def _parameters(event: HookEvent) -> dict[str, Any]:
    given = event.parameters.model_dump(
        mode="json", exclude={"group"}, exclude_defaults=True, exclude_none=True
    )
    group = event.parameters.group
    return given | ({"group": _group(group)} if group else {})


def _cluster(spec: ClusterSpec) -> dict[str, Any]:
    cluster = spec.cluster
    return {
        "uuid": cluster.uuid,
        "name": cluster.name,
        "project_id": cluster.project_id,
        "user_id": cluster.user_id,
        "status": cluster.status,
        "api_address": cluster.api_address,
        "coe_version": cluster.coe_version,
        "labels": without_secrets(cluster.labels),
        "driver": cluster.driver,
        "driver_version": cluster.driver_version,
        "template": {
            "uuid": spec.template.uuid,
            "name": spec.template.name,
            "coe": spec.template.coe,
            "image_id": spec.template.image_id,
        },
        "node_groups": [_group(group) for group in spec.node_groups],
    }


def _group(group: NodeGroup) -> dict[str, Any]:
    shown = {"uuid", "name", "role", "node_count", "flavor_id", "image_id"}
    return group.model_dump(mode="json", include=shown)
