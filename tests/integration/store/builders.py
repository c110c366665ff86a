"""Rows for the tests: valid, and different only in what a test names."""

from typing import Any

from jeroboam.models import (
    Cluster,
    ClusterSpec,
    ClusterTemplate,
    NodeGroup,
    Operation,
    OperationKind,
    OperationState,
    Transition,
    utc_now,
)
from jeroboam.store import Store

PROJECT = "project-1"
OTHER = "project-2"


def a_template(**changes: Any) -> ClusterTemplate:
    values = {
        "name": "template",
        "project_id": PROJECT,
        "user_id": "user",
        "coe": "kubernetes",
        "image_id": "image",
        "labels": {"b": "1", "a": "2"},
    }
    return ClusterTemplate(**values | changes)


def a_spec(template: ClusterTemplate, **changes: Any) -> ClusterSpec:
    values = {
        "name": "cluster",
        "project_id": PROJECT,
        "user_id": "user",
        "cluster_template_id": template.uuid,
        "driver": "fake",
        "driver_version": "1.0",
        "cloud": "devcloud",
        "labels": {"z": "1", "a": "2"},
    }
    cluster = Cluster(**values | changes)
    groups = (
        a_group(cluster, name="default-master", role="master", is_default=True),
        a_group(cluster, name="default-worker", is_default=True, node_count=2),
    )
    return ClusterSpec(cluster=cluster, template=template, node_groups=groups)


def a_group(cluster: Cluster, **changes: Any) -> NodeGroup:
    values = {"name": "group", "cluster_id": cluster.uuid, "project_id": cluster.project_id}
    return NodeGroup(**values | changes)


def an_operation(cluster: Cluster, **changes: Any) -> Operation:
    values = {
        "kind": OperationKind.CREATE,
        "cluster_id": cluster.uuid,
        "cluster_name": cluster.name,
        "project_id": cluster.project_id,
        "user_id": cluster.user_id,
        "request_id": "req-1",
    }
    return Operation(**values | changes)


def a_transition(operation: Operation, seq: int, **changes: Any) -> Transition:
    values = {
        "operation_id": operation.uuid,
        "cluster_id": operation.cluster_id,
        "seq": seq,
        "at": utc_now(),
        "state": OperationState.RUNNING,
        "node_group_status": changes.get("cluster_status"),
    }
    return Transition(**values | changes)


async def stored(store: Store, **changes: Any) -> tuple[ClusterSpec, Operation]:
    """Store a template, a cluster made from it and its create operation."""
    template = await store.templates.add(a_template())
    spec = a_spec(template, **changes)
    operation = an_operation(spec.cluster)
    await store.clusters.create(spec, operation)
    return spec, operation
