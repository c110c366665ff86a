"""Negotiates the microversion, and forgives clients the spellings that Magnum forgives."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jeroboam.api.http import versions
from jeroboam.api.http.errors import error_response, unsupported_version

UNVERSIONED_PATHS = frozenset({"/", "/healthcheck", "/openapi.json"})


class MicroversionMiddleware:
    """Puts the version into ``request.state.version`` and its headers on the answer.

    Paths are normalised too: magnumclient ends some with a slash, and Magnum serves its
    ``bookmark`` links, which lack the ``/v1``.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or scope["path"] in UNVERSIONED_PATHS:
            await self._app(scope, receive, send)
            return
        try:
            version = versions.parse(Headers(scope=scope).get(versions.HEADER))
        except HTTPException as error:
            response = error_response(error.status_code, str(error.detail), code="")
            await response(scope, receive, send)
            return
        if not versions.supported(version):
            await unsupported_version(version)(scope, receive, send)
            return
        scope["state"]["version"] = version
        path = _normalised(scope["path"])
        inner = {**scope, "path": path, "raw_path": path.encode()}
        await self._app(inner, receive, _with_headers(inner, send, version))


def _with_headers(scope: Scope, send: Send, version: versions.Microversion) -> Send:
    async def forward(message: Message) -> None:
        unversioned = scope["state"].get("unversioned", False)
        if message["type"] == "http.response.start" and not unversioned:
            MutableHeaders(scope=message).update(versions.response_headers(version))
        await send(message)

    return forward


def _normalised(path: str) -> str:
    stripped = path.rstrip("/")
    if stripped == "/v1" or stripped.startswith("/v1/"):
        return stripped
    return f"/v1{stripped}"
