"""What every call goes through: its errors become statuses, and it ends in time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias

import grpc
import structlog
from grpc import StatusCode

from jeroboam.api.grpc.refusals import Refused

CALL_SECONDS = 60.0
"""The longest that a call takes which is no stream; what it has begun comes to its end."""

OURS = "/jeroboam."

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any] | None"
Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

log = structlog.get_logger(__name__)


class Guard(grpc.aio.ServerInterceptor):
    """Answers for all methods of our services."""

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        """Return the handler of a call, guarded."""
        handler = await continuation(handler_call_details)
        # Nothing is returned for a method that is not there.
        if not handler or not handler_call_details.method.startswith(OURS):
            return handler
        if handler.response_streaming:
            return grpc.unary_stream_rpc_method_handler(
                _guarded_stream(handler.unary_stream),
                handler.request_deserializer,
                handler.response_serializer,
            )
        return grpc.unary_unary_rpc_method_handler(
            _guarded(handler.unary_unary),
            handler.request_deserializer,
            handler.response_serializer,
        )


def _guarded(method: Any) -> Any:
    async def call(request: Any, context: Context) -> Any:
        try:
            async with asyncio.timeout(CALL_SECONDS):
                return await method(request, context)
        except Exception as error:  # noqa: BLE001 - each becomes a status
            return await _abort(context, error)

    return call


def _guarded_stream(method: Any) -> Any:
    async def call(request: Any, context: Context) -> AsyncIterator[Any]:
        try:
            async for event in method(request, context):
                yield event
        except Exception as error:  # noqa: BLE001 - each becomes a status
            await _abort(context, error)

    return call


async def _abort(context: Context, error: Exception) -> None:
    refused = error if isinstance(error, Refused) else _unexpected(error)
    await context.abort(refused.code, refused.message, tuple(refused.trailing.items()))


def _unexpected(error: Exception) -> Refused:
    if isinstance(error, TimeoutError):
        return Refused(
            StatusCode.DEADLINE_EXCEEDED,
            f"There was no answer within {CALL_SECONDS:.0f} s. What was begun goes on: look before "
            "you ask again.",
        )
    log.error("call_defect", exc_info=error)
    return Refused(StatusCode.INTERNAL, "The service met an unexpected error.")
