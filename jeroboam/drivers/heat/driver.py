"""The lifecycle of a cluster that is one Heat stack; a driver adds its template."""

from collections.abc import Sequence
from typing import Any, ClassVar

from jeroboam.drivers.base import ClusterDriver, DriverContext, Poller, Progress, Watch
from jeroboam.drivers.heat import failures, leftovers
from jeroboam.drivers.heat.phases import MAX_MESSAGE, StackState
from jeroboam.drivers.heat.poller import HeatPoller
from jeroboam.drivers.heat.stacks import Stacks, short_id, stack_name, stack_tags
from jeroboam.drivers.heat.template_definition import (
    Facts,
    TemplateDefinition,
    basic_facts,
)
from jeroboam.errors import NotFoundError
from jeroboam.models import ClusterOutputs, ClusterSpec, Node, NodeGroup
from jeroboam.models.cluster import MASTER


class HeatDriver(ClusterDriver):
    """A driver that needs a name, a version and a template definition."""

    definition: ClassVar[TemplateDefinition]

    def facts(self, context: DriverContext, spec: ClusterSpec, timeout_minutes: int) -> Facts:
        """Return what the definition's mappings may refer to; families of drivers add theirs."""
        _ = context
        return basic_facts(spec) | {"limits": {"timeout_minutes": timeout_minutes}}

    def create_cluster(
        self, context: DriverContext, spec: ClusterSpec, timeout_minutes: int
    ) -> str:
        """Create the cluster's stack, or go on with it if Heat left it unfinished."""
        stacks = _stacks(context, spec)
        found = _find(stacks, spec)
        if found is None:
            return stacks.create(
                stack_name(spec.cluster),
                **self._request(context, spec, timeout_minutes),
                tags=",".join(stack_tags(spec.cluster, context.idempotency_key)),
                disable_rollback=True,
            )
        if found.failed or stacks.broken_off(found):
            _remove_leftovers(context, spec, stacks.object_ids(found.id))
            stacks.resume(found, timeout_minutes)
        return found.id

    def update_cluster(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        nodes_to_remove: Sequence[Node],
        timeout_minutes: int,
    ) -> None:
        """Change the number of a group's nodes; nothing else that is in the stack changes."""
        _ = nodes_to_remove
        stacks = _stacks(context, spec)
        found = _find(stacks, spec)
        if found is None:
            raise NotFoundError(
                f"Cluster {spec.cluster.name} has no stack. Delete the cluster and create it anew."
            )
        count = "master_count" if group.role == MASTER else "worker_count"
        stacks.update(
            found.id,
            existing=True,
            parameters={count: group.node_count},
            disable_rollback=True,
            timeout_mins=timeout_minutes,
            tags=",".join(stack_tags(spec.cluster, context.idempotency_key)),
        )

    def delete_cluster(self, context: DriverContext, spec: ClusterSpec) -> None:
        """Delete the stack, whatever state it is in."""
        stacks = _stacks(context, spec)
        found = _find(stacks, spec)
        if found is None:
            _remove_leftovers(context, spec, frozenset())
            return
        deleting = found.status == "DELETE_IN_PROGRESS"
        if deleting and not stacks.broken_off(found):
            return
        if found.status != "CREATE_COMPLETE":
            _remove_leftovers(context, spec, stacks.object_ids(found.id))
        stacks.delete(found)

    def poller(self) -> Poller:
        """Return Heat's poller."""
        return HeatPoller()

    def read_outputs(self, context: DriverContext, spec: ClusterSpec) -> ClusterOutputs:
        """Read the addresses from the stack's outputs."""
        ident = spec.cluster.stack_id or stack_name(spec.cluster)
        return self.definition.read_outputs(spec, _stacks(context, spec).outputs(ident))

    def explain_failure(
        self, context: DriverContext, spec: ClusterSpec, watch: Watch, progress: Progress
    ) -> Progress:
        """Name the innermost resource that failed, with the reason of the service behind it."""
        _ = watch
        stacks = _stacks(context, spec)
        found = _find(stacks, spec)
        if found is None:
            return progress
        faults = stacks.failed_resources(found.id) or stacks.unfinished_resources(found.id)
        message = failures.summary(faults) if faults else failures.explain(found.reason)
        return progress.model_copy(update={"message": message[:MAX_MESSAGE], "faults": faults})

    def _request(
        self, context: DriverContext, spec: ClusterSpec, timeout_minutes: int
    ) -> dict[str, Any]:
        template, files = self.definition.load()
        facts = self.facts(context, spec, timeout_minutes)
        return {
            "template": template,
            "files": files,
            "parameters": self.definition.parameter_values(facts),
            "timeout_mins": timeout_minutes,
        }


def _stacks(context: DriverContext, spec: ClusterSpec) -> Stacks:
    return Stacks(context.cloud, spec.cluster.trust_id)


def _remove_leftovers(context: DriverContext, spec: ClusterSpec, known: leftovers.Known) -> None:
    connection = leftovers.connection(context.cloud, spec.cluster.trust_id)
    leftovers.remove(connection, short_id(spec.cluster), known)


def _find(stacks: Stacks, spec: ClusterSpec) -> StackState | None:
    """Return the cluster's stack by the stored id or, if that was never stored, by its name."""
    known = spec.cluster.stack_id
    found = stacks.find(known) if known else None
    return found or stacks.find(stack_name(spec.cluster))
