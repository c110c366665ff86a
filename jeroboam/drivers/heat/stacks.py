"""A cluster's stack in its tenant's project: found by name, created, resumed, deleted."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import structlog

from jeroboam.drivers.base import CloudAccess
from jeroboam.drivers.heat import engines, failures
from jeroboam.drivers.heat.clients import tenant_client
from jeroboam.drivers.heat.phases import StackState
from jeroboam.drivers.heat.tags import TAG, group_tag, key_tag
from jeroboam.drivers.nodes.names import short_id
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import ConflictError, NotFoundError
from jeroboam.models import Cluster

SERVICE = "Heat"

_NAME_LENGTH = 30
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


def stack_tags(cluster: Cluster, idempotency_key: str, group: str | None = None) -> list[str]:
    """Return the tags that tell whose stack it is and which call was submitted last.

    Args:
        group: uuid of the node group whose own stack it is.
    """
    own = [group_tag(group)] if group else []
    return [TAG, cluster.uuid, *own, key_tag(idempotency_key)]


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

    def shown(self, ident: str) -> Mapping[str, Any]:
        """Return all that Heat shows of a stack.

        Raises:
            NotFoundError: It is not there.
        """
        with translate_cloud_errors(SERVICE):
            record: Mapping[str, Any] = self._heat.stacks.get(ident).to_dict()
        return record

    def names(self) -> Mapping[str, str]:
        """Return the names of the owner's outermost stacks by their ids."""
        with translate_cloud_errors(SERVICE):
            return {one.id: one.stack_name for one in self._heat.stacks.list()}

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

    def template(self, ident: str) -> tuple[Mapping[str, Any], Mapping[str, str]]:
        """Return the template that a stack is made from, and the files that belong to it."""
        with translate_cloud_errors(SERVICE):
            return self._heat.stacks.template(ident), self._heat.stacks.files(ident)

    def tagged(self, tag: str) -> list[StackState]:
        """Return the owner's stacks that carry a tag."""
        with translate_cloud_errors(SERVICE):
            listed = [one.to_dict() for one in self._heat.stacks.list(tags=tag)]
        return [state for one in listed if not (state := StackState.of(one)).deleted]

    def mark_unhealthy(self, stack_id: str, resource: str, reason: str) -> None:
        """Make Heat replace a resource with the next update; one that is gone needs none."""
        try:
            with translate_cloud_errors(SERVICE):
                self._heat.resources.mark_unhealthy(
                    stack_id, resource, mark_unhealthy=True, resource_status_reason=reason
                )
        except NotFoundError:
            return

    def signals(self, stack_id: str, resource: str) -> Mapping[str, Any]:
        """Return what a handle of a wait condition was told, by the id of who told it."""
        with translate_cloud_errors(SERVICE):
            told: Mapping[str, Any] = self._heat.resources.metadata(stack_id, resource)
        return told

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
        return failures.root_causes(ident, self.resources(ident, "FAILED"))

    def unfinished_resources(self, ident: str) -> failures.Faults:
        """Return the resources that were not ready when the time was up."""
        return failures.unfinished(ident, self.resources(ident, "IN_PROGRESS"))

    def object_ids(self, cluster: Cluster) -> frozenset[str]:
        """Return the ids of all objects that Heat knows to belong to a cluster.

        What an update has replaced is in no list of resources until the update has ended well, and
        a roll-back takes it up again: of that only the events tell.
        """
        known = [*self.tagged(cluster.uuid), *filter(None, [self.find(stack_name(cluster))])]
        return frozenset(
            str(record.get("physical_resource_id"))
            for stack in {one.id for one in known}
            for record in (*self.resources(stack), *self.events(stack))
        )

    def events(self, ident: str) -> list[Mapping[str, Any]]:
        """Return the records of all events of a stack and of those nested in it."""
        with translate_cloud_errors(SERVICE):
            found = self._heat.events.list(ident, nested_depth=failures.NESTED_DEPTH)
            return [event.to_dict() for event in found]

    def resources(self, ident: str, status: str | None = None) -> list[Mapping[str, Any]]:
        """Return the records of all resources of a stack and of those nested in it."""
        with translate_cloud_errors(SERVICE):
            records = self._heat.resources.list(
                ident,
                nested_depth=failures.NESTED_DEPTH,
                filters={"status": status} if status else {},
            )
        return [record.to_dict() for record in records]
