"""The service ``jeroboam.v1.Operations``."""

from collections.abc import AsyncIterator
from typing import Any

from jeroboam.api.grpc import messages
from jeroboam.api.grpc.calls import Calls, Context
from jeroboam.api.grpc.door import Request
from jeroboam.api.grpc.v1 import operations_pb2 as wire
from jeroboam.api.grpc.v1 import operations_pb2_grpc as stubs
from jeroboam.api.grpc.watching import Watching


def operation_path(ident: str, *more: str) -> str:
    """Return the path of an operation."""
    return "/".join(("/v1/operations", messages.segment("operation_id", ident), *more))


class OperationsService(stubs.OperationsServicer):
    """Answers calls about operations.

    Args:
        calls: Passes them on.
        watching: Tells of changes.
    """

    def __init__(self, calls: Calls, watching: Watching) -> None:
        self._calls = calls
        self._watching = watching

    async def GetOperation(  # noqa: D102, N802 - described in the protocol
        self, request: wire.GetOperationRequest, context: Context
    ) -> wire.Operation:
        path = operation_path(request.operation_id)
        answer = await self._calls.ask(context, Request("GET", path))
        return messages.fill(wire.Operation(), answer.body)

    async def ListOperations(  # noqa: D102, N802
        self, request: wire.ListOperationsRequest, context: Context
    ) -> wire.ListOperationsResponse:
        query = {
            "cluster": request.cluster if request.HasField("cluster") else None,
            "kind": ",".join(request.kinds) or None,
            "state": ",".join(request.states) or None,
            "schedule": request.schedule_id if request.HasField("schedule_id") else None,
            "since": request.since.ToJsonString() if request.HasField("since") else None,
            **messages.page(request.page_size, request.page_token),
        }
        answer = await self._calls.ask(context, Request("GET", "/v1/operations", query))
        found = [messages.fill(wire.Operation(), one) for one in answer.body["operations"]]
        return wire.ListOperationsResponse(
            operations=found, next_page_token=messages.next_token(answer.body)
        )

    async def CancelOperation(  # noqa: D102, N802
        self, request: wire.CancelOperationRequest, context: Context
    ) -> wire.OperationAnswer:
        body = messages.body_of(request, "operation_id")
        return await self._told(context, operation_path(request.operation_id, "cancel"), body)

    async def RetryOperation(  # noqa: D102, N802
        self, request: wire.RetryOperationRequest, context: Context
    ) -> wire.OperationAnswer:
        return await self._told(context, operation_path(request.operation_id, "retry"), None)

    async def ResumeOperation(  # noqa: D102, N802
        self, request: wire.ResumeOperationRequest, context: Context
    ) -> wire.OperationAnswer:
        body = messages.body_of(request, "operation_id")
        return await self._told(context, operation_path(request.operation_id, "resume"), body)

    async def WatchOperation(  # noqa: D102, N802
        self, request: wire.WatchOperationRequest, context: Context
    ) -> AsyncIterator[wire.OperationEvent]:
        path = operation_path(request.operation_id)
        async for event in self._watching.operation(context, path, request.after_seq):
            yield event

    async def _told(
        self, context: Context, path: str, body: dict[str, Any] | None
    ) -> wire.OperationAnswer:
        answer = await self._calls.ask(context, Request("POST", path, body=body))
        told = answer.body
        return wire.OperationAnswer(
            cluster_id=told["uuid"], operation_id=told["operation_id"], message=told["message"]
        )
