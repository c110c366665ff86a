"""The modules of the protocol buffers are those of the protocol files, and nothing is left out."""

from pathlib import Path

import pytest
from google.protobuf.descriptor import Descriptor

from jeroboam.api.grpc.v1 import clusters_pb2, operations_pb2
from jeroboam.api.http.schemas.cluster import ClusterCreate, ClusterDetail
from jeroboam.api.http.schemas.operation import OperationDetail, StepBody
from jeroboam.api.http.schemas.plan import PlanBody, PlanHookBody, PlanStepBody
from tools import protos


def test_the_modules_are_up_to_date(tmp_path: Path) -> None:
    """Making them anew changes nothing; if it does: ``python -m tools.protos``."""
    made = {path.name: path.read_text() for path in protos.generate(tmp_path)}
    kept = {path.name: path.read_text() for path in protos.STUBS.glob("*_pb2*")}
    assert made == kept


READ_ONLY = {
    *("uuid", "status", "status_reason", "health_status", "health_status_reason", "faults"),
    *("labels_overridden", "labels_added", "labels_skipped", "links", "stack_id", "cluster_id"),
    *("api_address", "coe_version", "container_version", "node_addresses", "master_addresses"),
    *("project_id", "user_id", "created_at", "updated_at"),
}
"""What a body may hold and no caller can set."""


@pytest.mark.parametrize(
    ("message", "fields", "missing"),
    [
        (clusters_pb2.Cluster, ClusterDetail.model_fields, {"links", "stack_id"}),
        (clusters_pb2.CreateClusterRequest, ClusterCreate.model_fields, READ_ONLY),
        (operations_pb2.Operation, OperationDetail.model_fields, {"links"}),
        (operations_pb2.Step, StepBody.model_fields, set()),
        (operations_pb2.Plan, PlanBody.model_fields, set()),
        (operations_pb2.PlanStep, PlanStepBody.model_fields, set()),
        (operations_pb2.PlanHook, PlanHookBody.model_fields, set()),
    ],
    ids=["cluster", "create", "operation", "step", "plan", "plan-step", "plan-hook"],
)
def test_nothing_of_the_bodies_is_lost(message: type, fields: object, missing: set[str]) -> None:
    """A field that the HTTP API gets is known to the protocol too."""
    descriptor: Descriptor = message.DESCRIPTOR  # type: ignore[attr-defined]
    assert set(fields) - missing <= set(descriptor.fields_by_name)  # type: ignore[call-overload]
