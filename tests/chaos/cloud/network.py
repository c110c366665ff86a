"""The network between the product and the cloud: an HTTP proxy that can be killed or held.

``python -m tests.chaos.cloud.network PORT``. It knows nothing of what passes. When it is killed,
a request may have reached the cloud and its answer not the product; when it is stopped, nothing
moves.
"""

import http.client
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

HOP_BY_HOP = frozenset({"connection", "proxy-connection", "keep-alive", "transfer-encoding"})
UPSTREAM_SECONDS = 120.0


class Forwarder(BaseHTTPRequestHandler):
    """Passes requests on, one connection to the cloud for each."""

    protocol_version = "HTTP/1.1"

    def forward(self) -> None:
        """Pass on one request and its answer."""
        url = urlsplit(self.path)
        if not url.netloc:
            self.send_error(400, "This is a proxy.")
            return
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else None
        kept = {name: text for name, text in self.headers.items() if name.lower() not in HOP_BY_HOP}
        connection = http.client.HTTPConnection(url.netloc, timeout=UPSTREAM_SECONDS)
        try:
            path = f"{url.path or '/'}?{url.query}" if url.query else url.path or "/"
            connection.request(self.command, path, body, kept)
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            self.close_connection = True
            return
        finally:
            connection.close()
        self._reply(answer, content)

    def _reply(self, answer: http.client.HTTPResponse, content: bytes) -> None:
        """Answer; a length that belongs to no content, as that of a HEAD, is kept."""
        self.send_response_only(answer.status, answer.reason)
        for name, text in answer.getheaders():
            if name.lower() not in HOP_BY_HOP | {"content-length"}:
                self.send_header(name, text)
        length = answer.getheader("Content-Length") or "0"
        self.send_header("Content-Length", str(len(content)) if content else length)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = forward  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base's
        """Say nothing."""


class Proxy(ThreadingHTTPServer):
    """Takes connections as long as it lives."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Bear it when somebody hangs up: they are killed all the time."""


if __name__ == "__main__":
    Proxy(("127.0.0.1", int(sys.argv[1])), Forwarder).serve_forever()
