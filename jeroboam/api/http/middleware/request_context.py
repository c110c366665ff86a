"""The outermost layer: request id, one log line per request, and the answer to a defect."""

import re
import time

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jeroboam.api.http.errors import UNEXPECTED, error_response
from jeroboam.api.http.middleware.authentication import CALLBACK_PATH
from jeroboam.models import new_uuid

REQUEST_ID_HEADER = "X-OpenStack-Request-ID"
_REQUEST_ID = re.compile(
    r"req-[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
)

log = structlog.get_logger(__name__)


class RequestContextMiddleware:
    """Binds the request id to the log context and answers 500 where nothing else answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(Headers(scope=scope))
        scope.setdefault("state", {})["request_id"] = request_id
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        await _Exchange(scope, send, request_id).run(self._app, receive)


class _Exchange:
    """One request and its answer."""

    def __init__(self, scope: Scope, send: Send, request_id: str) -> None:
        self._scope = scope
        self._send = send
        self._request_id = request_id
        self._status: int | None = None
        self._started = time.perf_counter()

    async def run(self, app: ASGIApp, receive: Receive) -> None:
        try:
            await app(self._scope, receive, self._forward)
        except Exception:
            log.exception("request_defect", path=self._scope["path"])
            if self._status is None:
                await self._answer_defect(receive)
        finally:
            self._log()

    async def _forward(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            MutableHeaders(scope=message)[REQUEST_ID_HEADER] = self._request_id
        await self._send(message)

    async def _answer_defect(self, receive: Receive) -> None:
        response = error_response(
            UNEXPECTED,
            "The service met an unexpected error. Tell the operator this request id: "
            f"{self._request_id}",
        )
        await response(self._scope, receive, self._forward)

    def _log(self) -> None:
        write = log.debug if self._scope["state"].get("quiet") else log.info
        write(
            "request",
            method=self._scope["method"],
            path=CALLBACK_PATH.sub(r"\1***", self._scope["path"]),
            status=self._status,
            duration_ms=round(1000 * (time.perf_counter() - self._started), 1),
        )


def _request_id(headers: Headers) -> str:
    # Only ids of OpenStack's own form are taken over, for anything else could forge log lines.
    given = headers.get(REQUEST_ID_HEADER, "")
    return given if _REQUEST_ID.fullmatch(given) else f"req-{new_uuid()}"
