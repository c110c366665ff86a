"""A real HTTP server that receives webhooks, and behaves as a test wants."""

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Act = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Received:
    """One request."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """What came in, and what to answer.

    Args:
        status: Of the answer.
        answer: Its body.
        act: Takes the answer over: a server that hangs, drips or lies.
    """

    url: str = ""
    status: int = 200
    answer: object = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    act: Act | None = None
    received: list[Received] = field(default_factory=list)

    def reply(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length", 0))
        body = handler.rfile.read(length)
        self.received.append(Received(handler.path, dict(handler.headers), body))
        if self.act:
            self.act(handler)
            return
        content = (
            self.answer if isinstance(self.answer, bytes) else json.dumps(self.answer).encode()
        )
        handler.send_response(self.status)
        for name, value in self.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)


@contextmanager
def receiving(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Yield a receiver that listens on a port of the loopback interface."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.reply(self)

        def log_message(self, *_: object) -> None:
            """Be silent."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Be silent: clients that hang up are what some tests are about."""

    with Server(("127.0.0.1", 0), Handler) as server:
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        port = server.server_address[1]
        receiver.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}/hook"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()


def no_content(handler: BaseHTTPRequestHandler) -> None:
    """Answer without a body."""
    handler.send_response(204)
    handler.end_headers()


def hang(handler: BaseHTTPRequestHandler) -> None:
    """Say nothing."""
    time.sleep(3)


def drip(handler: BaseHTTPRequestHandler) -> None:
    """Send a header that never ends, one letter at a time."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    for _ in range(100):
        handler.wfile.write(b"x")
        handler.wfile.flush()
        time.sleep(0.05)


def drip_body(handler: BaseHTTPRequestHandler) -> None:
    """Send a body whose end is the end of the connection, one letter at a time."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}")
    for _ in range(100):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    """Close without an answer."""


def babble(handler: BaseHTTPRequestHandler) -> None:
    """Answer with something that is no HTTP."""
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.0\r\n\r\n")


def flood(handler: BaseHTTPRequestHandler) -> None:
    """Send a body without an end."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    for _ in range(10_000):
        handler.wfile.write(b" " * 10_000)


def cut_short(handler: BaseHTTPRequestHandler) -> None:
    """Promise a longer body than comes."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}")
