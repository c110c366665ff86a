"""A cluster's stack in its tenant's project: found by name, created, resumed, deleted."""

import re
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any

import structlog

from jeroboam.drivers.base import CloudAccess
from jeroboam.drivers.heat import engines, failures
from jeroboam.drivers.heat.clients import tenant_client
from jeroboam.drivers.heat.phases import StackState
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import ConflictError, NotFoundError
from jeroboam.models import Cluster

TAG = "jeroboam"
SERVICE = "Heat"

_NAME_LENGTH = 30
_ID_LENGTH = 12
_TAG_LENGTH = 80
_UNFIT = re.compile(r"[^A-Za-z0-9_.-]")

log = structlog.get_logger(__name__)


def stack_name(cluster: Cluster) -> str:
    """Return the name that a cluster's stack always has.

    As with Magnum: the cluster's name cut to 30 characters and a short id. The id comes from the
    cluster's uuid, so the stack is found again after a crash.
    """
    readable = _UNFIT.sub("-", cluster.name)[:_NAME_LENGTH]
    if not readable[:1].isalpha():
        readable = f"c{readable}"[:_NAME_LENGTH]
    return f"{readable}-{short_id(cluster)}"


def short_id(cluster: Cluster) -> str:
    """Return the part of the cluster's uuid that the names of all its objects hold."""
    return cluster.uuid.replace("-", "")[:_ID_LENGTH]


def stack_tags(cluster: Cluster, idempotency_key: str) -> list[str]:
    """Return the tags that tell whose stack it is and which call made it."""
    return [TAG, cluster.uuid, key_tag(idempotency_key)]


def key_tag(idempotency_key: str) -> str:
    """Return the key in the form that Heat takes: no comma and at most 80 characters."""
    if len(idempotency_key) <= _TAG_LENGTH and "," not in idempotency_key:
        return idempotency_key
    return f"key-{sha256(idempotency_key.encode()).hexdigest()}"


class Stacks:
    """The stacks of one cluster's owner.

    Args:
        cloud: Where they are.
        trust_id: The cluster's trust.
    """

    def __init__(self, cloud: CloudAccess, trust_id: str | None) -> None:
        self._cloud = cloud
        with translate_cloud_errors(SERVICE):
            self._heat: Any = tenant_client(cloud, trust_id)

    def find(self, ident: str) -> StackState | None:
        """Return the stack with a name or id, or ``None``."""
        try:
            with translate_cloud_errors(SERVICE):
                record = self._heat.stacks.get(ident, resolve_outputs=False).to_dict()
        except NotFoundError:
            return None
        state = StackState.of(record)
        return None if state.deleted else state

    def outputs(self, ident: str) -> Mapping[str, Any]:
        """Return the outputs of a stack by their keys."""
        with translate_cloud_errors(SERVICE):
            record = self._heat.stacks.get(ident).to_dict()
        return {out["output_key"]: out.get("output_value") for out in record.get("outputs", ())}

    def create(self, name: str, **request: Any) -> str:
        """Create a stack and return its id; one of the same name which is there is the result."""
        try:
            with translate_cloud_errors(SERVICE):
                answer = self._heat.stacks.create(stack_name=name, **request)
        except ConflictError:
            found = self.find(name)
            if found is None:
                raise
            return found.id
        log.info("stack_submitted", stack=name, stack_id=answer["stack"]["id"])
        return str(answer["stack"]["id"])

    def update(self, ident: str, **request: Any) -> None:
        """Submit a change of a stack."""
        with translate_cloud_errors(SERVICE):
            self._heat.stacks.update(ident, **request)

    def resume(self, stack: StackState, timeout_minutes: int) -> None:
        """Make Heat go on with a stack; what is complete stays, what failed is made anew."""
        log.warning("stack_resumed", stack=stack.name, stack_id=stack.id, status=stack.status)
        self.update(stack.id, existing=True, timeout_mins=timeout_minutes, disable_rollback=True)

    def broken_off(self, stack: StackState) -> bool:
        """Whether Heat left the stack in the middle of an action."""
        changed: datetime | None = engines.changed_at(self._cloud) if stack.running else None
        return stack.broken_off(changed)

    def delete(self, stack: StackState) -> None:
        """Submit the deletion of a stack; one that has gone meanwhile is success."""
        try:
            with translate_cloud_errors(SERVICE):
                self._heat.stacks.delete(stack.id)
        except NotFoundError:
            return
        log.info("stack_deletion_submitted", stack=stack.name, stack_id=stack.id)

    def failed_resources(self, ident: str) -> failures.Faults:
        """Return why resources of a stack failed, at any depth."""
        return failures.root_causes(ident, self._resources(ident, "FAILED"))

    def unfinished_resources(self, ident: str) -> failures.Faults:
        """Return the resources that were not ready when the time was up."""
        return failures.unfinished(ident, self._resources(ident, "IN_PROGRESS"))

    def object_ids(self, ident: str) -> frozenset[str]:
        """Return the ids of all objects that Heat knows to belong to a stack."""
        records = self._resources(ident)
        return frozenset(str(record.get("physical_resource_id")) for record in records)

    def _resources(self, ident: str, status: str | None = None) -> list[Mapping[str, Any]]:
        with translate_cloud_errors(SERVICE):
            records = self._heat.resources.list(
                ident,
                nested_depth=failures.NESTED_DEPTH,
                filters={"status": status} if status else {},
            )
        return [record.to_dict() for record in records]
