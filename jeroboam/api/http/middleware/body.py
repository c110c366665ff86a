"""Refuses bodies that are too large or not JSON before anything reads them."""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jeroboam.api.http.errors import error_response

TOO_LARGE = 413
WRONG_TYPE = 415
SHOWN = 100


class BodyMiddleware:
    """Limits the size and the type of request bodies.

    Args:
        limit: Largest body in bytes.
    """

    def __init__(self, app: ASGIApp, *, limit: int) -> None:
        self._app = app
        self._limit = limit
        self._message = f"The request body is larger than {limit} bytes."

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._limit:
            await error_response(TOO_LARGE, self._message)(scope, receive, send)
            return
        refusal = _refusal(headers)
        if refusal:
            await error_response(WRONG_TYPE, refusal)(scope, receive, send)
            return
        await self._app(scope, self._counting(receive), send)

    def _counting(self, receive: Receive) -> Receive:
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._limit:
                # Caught by the framework's handler for exceptions of this class.
                raise HTTPException(TOO_LARGE, self._message)
            return message

        return counted


def _refusal(headers: Headers) -> str | None:
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    media_type = headers.get("content-type", "").split(";")[0].strip().lower()
    coding = headers.get("content-encoding", "identity").strip().lower()
    if not has_body:
        return None
    if coding != "identity":
        return f"The request body is encoded as {coding[:SHOWN]}; send it as it is."
    is_json = media_type == "application/json" or media_type.endswith("+json")
    return None if is_json or not media_type else f"Unknown mimetype: {media_type[:SHOWN]}"
