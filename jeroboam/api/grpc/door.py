"""The one door to the service: each call becomes a request to the HTTP application.

It is made within the process, without a socket. So both ways in have the same authentication,
policy, validation, acceptance and words, and nothing is written twice.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from starlette.types import ASGIApp, Message, Scope

from jeroboam.api.grpc.refusals import refusal
from jeroboam.api.http import versions
from jeroboam.api.http.middleware.request_context import REQUEST_ID_HEADER
from jeroboam.errors import JeroboamError

FIRST_ERROR = 400
NEWEST = f"{versions.SERVICE} {versions.MAXIMUM}"

Metadata = Iterable[tuple[str, str | bytes]]


@dataclass(frozen=True)
class Sender:
    """Who makes a call: the metadata that the HTTP application may look at, as its headers."""

    headers: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, metadata: Metadata | None) -> "Sender":
        """Return the sender of a call.

        The token is in ``x-auth-token`` or, as is the custom of gRPC, a bearer's in
        ``authorization``.
        """
        given = {key: value for key, value in metadata or () if isinstance(value, str)}
        known = ("x-auth-token", "x-service-token", REQUEST_ID_HEADER.lower())
        headers = {key: given[key] for key in known if key in given}
        kind, _, token = given.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and "x-auth-token" not in headers:
            headers["x-auth-token"] = token.strip()
        return cls(headers)


@dataclass(frozen=True)
class Request:
    """What is asked of the HTTP application.

    Args:
        query: Arguments; those that are ``None`` are left out.
        body: What is sent as JSON; ``None`` is no body.
        quiet: Whether it repeats an earlier request, so that the log need not tell of it.
    """

    method: str
    path: str
    query: Mapping[str, str | None] = field(default_factory=dict)
    body: object | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    quiet: bool = False


@dataclass(frozen=True)
class Answer:
    """What the HTTP application answered.

    Args:
        body: The JSON of the answer; nothing if it has none.
        user_id: Who asked, by Keystone.
    """

    status: int
    headers: Mapping[str, str]
    body: Any
    user_id: str

    @property
    def request_id(self) -> str:
        """The request's id in the log."""
        return self.headers.get(REQUEST_ID_HEADER.lower(), "")


class Door:
    """Asks the HTTP application.

    Args:
        app: The application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open: set[asyncio.Task[Answer]] = set()

    async def ask(self, sender: Sender, request: Request) -> Answer:
        """Return the answer to a request.

        What was begun comes to its end although the caller leaves: in the middle of it there may
        be a trust without a cluster.

        Raises:
            Refused: The application answered with an error.
        """
        task = asyncio.create_task(self._exchange(sender, request))
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        return await asyncio.shield(task)

    async def drain(self, seconds: float) -> None:
        """Wait until no request is open, for some seconds at most."""
        if self._open:
            await asyncio.wait(self._open, timeout=seconds)

    async def _exchange(self, sender: Sender, request: Request) -> Answer:
        payload = _payload(request)
        conversation = _Conversation(payload)
        scope = _scope(sender, request, payload)
        await self._app(scope, conversation.receive, conversation.send)
        state = scope["state"]
        caller = state.get("caller")
        answer = Answer(
            status=conversation.status,
            headers=conversation.headers,
            body=conversation.json(),
            user_id=caller.identity.user_id if caller else "",
        )
        if answer.status >= FIRST_ERROR:
            failure = state.get("failure")
            error = failure if isinstance(failure, JeroboamError) else None
            raise refusal(answer.status, answer.body, answer.headers, error)
        return answer


class _Conversation:
    """The messages of one request and its answer."""

    def __init__(self, payload: bytes) -> None:
        self._payload: bytes | None = payload
        self._parts: list[bytes] = []
        self.status = 500
        self.headers: Mapping[str, str] = {}

    async def receive(self) -> Message:
        payload, self._payload = self._payload, None
        if payload is None:
            # Whoever waits for the client to leave waits for ever: what was begun is finished.
            await asyncio.Event().wait()
        return {"type": "http.request", "body": payload or b"", "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {k.decode().lower(): v.decode("latin-1") for k, v in message["headers"]}
        elif message["type"] == "http.response.body":
            self._parts.append(message.get("body", b""))

    def json(self) -> Any:
        text = b"".join(self._parts)
        is_json = "json" in self.headers.get("content-type", "")
        return json.loads(text) if text and is_json else None


def _payload(request: Request) -> bytes:
    return b"" if request.body is None else json.dumps(request.body).encode()


def _scope(sender: Sender, request: Request, payload: bytes) -> Scope:
    headers = {
        **sender.headers,
        **request.headers,
        versions.HEADER.lower(): NEWEST,
        "content-length": str(len(payload)),
    }
    if payload:
        headers["content-type"] = "application/json"
    query = {name: value for name, value in request.query.items() if value is not None}
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": request.path,
        "raw_path": request.path.encode(),
        "root_path": "",
        "query_string": urlencode(query).encode(),
        "headers": [(k.encode("latin-1"), v.encode("utf-8")) for k, v in headers.items()],
        "client": None,
        "server": None,
        "state": {"quiet": request.quiet},
    }
