"""Kubernetes on Heat: facts and checks that do not depend on the operating system."""

import re
from collections.abc import Mapping
from typing import Any

from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.heat.driver import HeatDriver
from jeroboam.drivers.heat.kubernetes import contents, ignition
from jeroboam.drivers.heat.kubernetes.checks import check
from jeroboam.drivers.heat.kubernetes.plan import KubernetesPlan
from jeroboam.drivers.heat.stacks import short_id
from jeroboam.drivers.heat.template_definition import Facts
from jeroboam.models import ClusterOutputs, ClusterSpec, NodeGroup

MANIFEST = "ignition.yaml"

# Nodes get a little less time than the stack, so that the stack's failure names them.
_MARGIN_SECONDS = 60
_LONGEST_WAIT_SECONDS = 43200
_NOT_IN_HOST_NAMES = re.compile(r"[^a-z0-9]+")
_CLUSTER_PART, _GROUP_PART = 30, 15


class KubernetesHeatDriver(HeatDriver):
    """A Heat driver whose template folder holds an Ignition manifest."""

    def validate(self, spec: ClusterSpec) -> None:
        """Check labels, addresses and combinations."""
        check(KubernetesPlan.of(spec))

    def facts(self, context: DriverContext, spec: ClusterSpec, timeout_minutes: int) -> Facts:
        """Return the basic facts, the typed labels, what follows from them and the documents."""
        plan = KubernetesPlan.of(spec)
        return {
            **super().facts(context, spec, timeout_minutes),
            "labels": plan.labels,
            "plan": plan,
            "names": node_names(spec),
            "limits": {"ready_seconds": ready_seconds(timeout_minutes)},
            "ignition": self._documents(context, plan),
        }

    def read_outputs(self, context: DriverContext, spec: ClusterSpec) -> ClusterOutputs:
        """Read the addresses from the stack; the versions are those that were ordered."""
        plan = KubernetesPlan.of(spec)
        versions = {
            "coe_version": plan.coe_version,
            "container_version": plan.labels["containerd_version"],
        }
        return super().read_outputs(context, spec).model_copy(update=versions)

    def _documents(self, context: DriverContext, plan: KubernetesPlan) -> Mapping[str, str]:
        """Return the Ignition document of each role."""
        secrets = context.read_secrets()
        manifest = self.definition.folder / MANIFEST
        arguments = contents.kernel_arguments(plan)

        def document(group: NodeGroup) -> str:
            texts = contents.generate(plan, secrets, group)
            return ignition.render(manifest, group.role, texts, arguments)

        # A cluster without workers still has to fill the template's parameter.
        worker = document(plan.workers) if plan.workers else "{}"
        return {"master": document(plan.spec.masters), "worker": worker}


def node_names(spec: ClusterSpec) -> Mapping[str, Any]:
    """Return the beginnings of the nodes' names, which must do as names of hosts."""
    group = next((group.name for group in spec.workers), "worker")
    readable = _host_name(spec.cluster.name)[:_CLUSTER_PART].strip("-")
    return {
        "cluster": f"{readable}-{short_id(spec.cluster)}",
        "workers": _host_name(group)[:_GROUP_PART].strip("-") or "worker",
    }


def ready_seconds(timeout_minutes: int) -> int:
    """Return how long Heat waits for the nodes; 0 minutes means no limit."""
    if timeout_minutes <= 0:
        return _LONGEST_WAIT_SECONDS
    seconds = timeout_minutes * 60
    return min(max(seconds - _MARGIN_SECONDS, seconds // 2), _LONGEST_WAIT_SECONDS)


def _host_name(name: str) -> str:
    return _NOT_IN_HOST_NAMES.sub("-", name.lower()).strip("-") or "c"
