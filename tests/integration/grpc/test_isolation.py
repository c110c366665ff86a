"""Who may call what: every method, as everybody."""

from typing import Any

import grpc
import pytest

from jeroboam.api.grpc.v1 import clusters_pb2 as clusters
from jeroboam.api.grpc.v1 import operations_pb2 as operations
from jeroboam.models import Operation
from tests.integration.grpc.conftest import Rpc, told
from tests.integration.grpc.test_calls import method

PEOPLE = ("colleague", "reader", "stranger", "nobody", "admin")

OK, NONE, NO = "OK", "NOT_FOUND", "PERMISSION_DENIED"
READ = (OK, OK, NONE, NO, OK)
CHANGE = (OK, NO, NONE, NO, OK)

# "C" stands for the cluster, "O" for its last operation. The operation has ended and cannot be
# taken up again or cancelled, which only those are told who might.
ENDED = ("FAILED_PRECONDITION", NO, NONE, NO, "FAILED_PRECONDITION")
WRONG = ("INVALID_ARGUMENT", NO, NONE, NO, "INVALID_ARGUMENT")
ROWS: list[tuple[Any, tuple[str, ...]]] = [
    (clusters.CreateClusterRequest(cluster_template_id="small"), (OK, NO, NONE, NO, OK)),
    (clusters.GetClusterRequest(cluster="C"), READ),
    (clusters.ListClustersRequest(), (OK, OK, OK, NO, OK)),
    (clusters.ResizeClusterRequest(cluster="C", node_count=2), CHANGE),
    (clusters.UpgradeClusterRequest(cluster="C", cluster_template="small"), CHANGE),
    (clusters.RebuildClusterRequest(cluster="C"), CHANGE),
    (clusters.RebootClusterRequest(cluster="C", type="soft"), CHANGE),
    (clusters.CheckClusterHealthRequest(cluster="C"), CHANGE),
    # What no engine has built has neither, which only those are told who might rotate them.
    (clusters.RotateClusterCaRequest(cluster="C"), ENDED),
    (clusters.RotateClusterCredentialRequest(cluster="C"), WRONG),
    (clusters.DeleteClusterRequest(cluster="C"), CHANGE),
    (clusters.WatchClusterRequest(cluster="C", until_idle=True), READ),
    (operations.GetOperationRequest(operation_id="O"), READ),
    (operations.ListOperationsRequest(cluster="C"), (OK, OK, OK, NO, OK)),
    (operations.CancelOperationRequest(operation_id="O"), ENDED),
    (operations.RetryOperationRequest(operation_id="O"), ENDED),
    (operations.ResumeOperationRequest(operation_id="O"), ENDED),
    (operations.WatchOperationRequest(operation_id="O"), READ),
]


def name(request: Any) -> str:
    return type(request).__name__.removesuffix("Request")


def test_every_method_has_a_row() -> None:
    """No method is left out of the table."""
    files = (clusters.DESCRIPTOR, operations.DESCRIPTOR)
    methods = [
        one.name
        for file in files
        for service in file.services_by_name.values()
        for one in service.methods
    ]
    assert sorted(methods) == sorted(name(request) for request, _ in ROWS)


async def outcome(rpc: Rpc, request: Any, token: str | None) -> tuple[str, str]:
    """Return the code of a call and what was told."""
    call = method(rpc, request)(request, metadata=told(token))
    try:
        if name(request).startswith("Watch"):
            return OK, str([one async for one in call])
        return OK, str(await call)
    except grpc.aio.AioRpcError as error:
        return error.code().name, str(error.details())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: name(row[0]))
async def test_who_may_call(rpc: Rpc, row: tuple[Any, tuple[str, ...]]) -> None:
    """Another project's cluster is not there, nobody is let in without a token or a role."""
    template, codes = row
    cluster = await rpc.service.built(name="victim")
    last: Operation = rpc.service.operations.started[-1]
    request = type(template)()
    request.CopyFrom(template)
    for field, value in (("cluster", cluster), ("operation_id", last.uuid)):
        if getattr(request, field, "") in {"C", "O"}:
            setattr(request, field, value)
    assert (await outcome(rpc, request, None))[0] == "UNAUTHENTICATED"
    before = await rpc.service.everything()
    for person, code in zip(PEOPLE, codes, strict=True):
        found, words = await outcome(rpc, request, f"{person}-token")
        assert found == code, f"{person}: {found} {words}"
        if person in {"stranger", "nobody"}:
            assert "victim" not in words
        if code != OK:
            assert await rpc.service.everything() == before
        else:
            for active in await rpc.service.store.operations.active(cluster):
                await rpc.service.store.operations.reject(active.uuid, "The next one's turn.")
            before = await rpc.service.everything()
