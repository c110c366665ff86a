"""Lets in whom Keystone vouches for, and hands the identity on."""

import re

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from jeroboam.api.http.authorization import Authorizer
from jeroboam.api.http.caller import Authenticate, Caller, Credentials, Refusal
from jeroboam.api.http.errors import error_response
from jeroboam.models import Identity

PUBLIC_PATHS = frozenset({"/", "/v1", "/v1/", "/healthcheck", "/openapi.json"})
CALLBACK_PATH = re.compile(r"((?:/v1)?/operations/[^/]+/hooks/)[^/]+/?")
"""Hooks have no Keystone token: for them the URL is the permission."""


class AuthenticationMiddleware:
    """Authenticates every request but those to the public paths.

    The identity goes to ``request.state.caller``. Nothing downstream reads identity headers, so a
    client which sends them gains nothing.
    """

    def __init__(self, app: ASGIApp, *, authenticate: Authenticate, authorizer: Authorizer) -> None:
        self._app = app
        self._authenticate = authenticate
        self._authorizer = authorizer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or _is_public(scope):
            await self._app(scope, receive, send)
            return
        credentials = _credentials(scope)
        outcome = await self._authenticate(credentials)
        if isinstance(outcome, Refusal):
            response = error_response(
                outcome.status, outcome.message, headers=dict(outcome.headers)
            )
            await response(scope, receive, send)
            return
        scope["state"]["caller"] = self._caller(outcome, credentials, scope)
        await self._app(scope, receive, send)

    def _caller(self, identity: Identity, credentials: Credentials, scope: Scope) -> Caller:
        structlog.contextvars.bind_contextvars(
            project_id=identity.project_id, user_id=identity.user_id
        )
        return Caller(
            identity=self._authorizer.recognise_admin(identity),
            request_id=scope["state"]["request_id"],
            token=credentials.token or "",
        )


def _is_public(scope: Scope) -> bool:
    if scope["path"] in PUBLIC_PATHS:
        return True
    return scope["method"] == "POST" and CALLBACK_PATH.fullmatch(scope["path"]) is not None


def _credentials(scope: Scope) -> Credentials:
    headers = Headers(scope=scope)
    return Credentials(
        method=scope["method"],
        path=scope["path"],
        token=headers.get("X-Auth-Token"),
        service_token=headers.get("X-Service-Token"),
    )
