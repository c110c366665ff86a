"""Reads the body of a request, and lets in JSON only that every reader takes for the same."""

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jeroboam.api.http import strict_json
from jeroboam.api.http.errors import error_response, status_of
from jeroboam.errors import InvalidRequestError

WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


class JsonBodyMiddleware:
    """Checks bodies; the innermost one, so that strangers do not occupy the parser."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or scope["method"] in WITHOUT_BODY:
            await self._app(scope, receive, send)
            return
        try:
            body = await _read(receive)
            if body:
                strict_json.check(body)
        except HTTPException as error:
            await error_response(error.status_code, error.detail)(scope, receive, send)
        except InvalidRequestError as error:
            await error_response(status_of(error), error.message)(scope, receive, send)
        else:
            if body is not None:
                await self._app(scope, _again(body, receive), send)


async def _read(receive: Receive) -> bytes | None:
    """Return the whole body, or nothing when the client went before it was whole."""
    parts: list[bytes] = []
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


def _again(body: bytes, receive: Receive) -> Receive:
    unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def first_the_body() -> Message:
        return unread.pop() if unread else await receive()

    return first_the_body
