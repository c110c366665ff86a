"""A client that writes bytes to a socket, as no library would let it."""

import json
import re
import socket
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

PATIENCE = 20.0
_STATUS = re.compile(rb"HTTP/1\.1 ([2-5]\d\d) ")


@dataclass(frozen=True)
class Answer:
    """What came back until the server closed the connection or ``seconds`` were over."""

    raw: bytes
    seconds: float
    closed: bool

    @property
    def statuses(self) -> list[int]:
        """The status of each answer, in order."""
        return [int(status) for status in _STATUS.findall(self.raw)]

    @property
    def error(self) -> dict[str, Any]:
        """The error in the body of the only answer."""
        (error,) = json.loads(self.raw.partition(b"\r\n\r\n")[2])["errors"]
        assert isinstance(error, dict)
        return error


class RawClient:
    """Connects to the API anew for each request.

    Args:
        url: The API's.
        token: For the requests that are made by ``head``.
    """

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        self.address = (str(parts.hostname), int(parts.port or 80))
        self._token = token

    def connect(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=PATIENCE)

    def head(self, method: str, target: str, *headers: str) -> bytes:
        """Return the head of a request with the token, and the empty line."""
        lines = (
            f"{method} {target} HTTP/1.1",
            "Host: api",
            f"X-Auth-Token: {self._token}",
            "OpenStack-API-Version: container-infra latest",
            *headers,
        )
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"

    def body(self, method: str, target: str, body: bytes, *headers: str) -> bytes:
        """Return a request with a body, after which the server closes the connection."""
        typed = (
            ()
            if any(one.startswith("Content-Type") for one in headers)
            else ("Content-Type: application/json",)
        )
        length = f"Content-Length: {len(body)}"
        return self.head(method, target, *typed, *headers, length, "Connection: close") + body

    def send(self, request: bytes, *, drip: float = 0.0) -> Answer:
        """Send a request, at once or byte by byte each ``drip`` seconds; read all that comes."""
        with self.connect() as connection:
            started = time.monotonic()
            try:
                if drip:
                    _drip(connection, request, drip)
                else:
                    connection.sendall(request)
            except (BrokenPipeError, ConnectionResetError):
                pass
            return _read(connection, started)


def _drip(connection: socket.socket, request: bytes, pause: float) -> None:
    """Send byte by byte until the server has something to say."""
    connection.settimeout(pause)
    for number in range(len(request)):
        connection.sendall(request[number : number + 1])
        try:
            if connection.recv(1, socket.MSG_PEEK) is not None:
                break
        except TimeoutError:
            continue
    connection.settimeout(PATIENCE)


def _read(connection: socket.socket, started: float) -> Answer:
    raw, closed = b"", False
    try:
        while part := connection.recv(1 << 16):
            raw += part
        closed = True
    except ConnectionResetError:
        closed = True
    except TimeoutError:
        pass
    return Answer(raw, time.monotonic() - started, closed)
