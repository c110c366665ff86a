"""A small Heat over real HTTP: what it answers is set by the test, what it is asked is counted."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token

from jeroboam.drivers.base import CloudAccess
from jeroboam.drivers.heat.stacks import TAG
from jeroboam.errors import CredentialRejectedError


@dataclass
class FakeHeat:
    """The state and the record of one Heat.

    Args:
        stacks: Records by project.
        engines: Records of the service list; ``None`` refuses to show them.
        global_list: Whether all projects may be listed at once.
        requests: Method, path and query of each request; the token names the project.
    """

    stacks: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    engines: list[dict[str, Any]] | None = field(default_factory=list)
    global_list: bool = True
    down: bool = False
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    port: int = 0

    def add(self, project: str, cluster_id: str, status: str, **record: Any) -> None:
        stack = {
            "id": f"stack-{cluster_id}",
            "stack_name": f"name-{cluster_id}",
            "stack_status": status,
            "creation_time": "2026-01-02T12:00:00Z",
            "tags": [TAG, cluster_id, "key"],
            **record,
        }
        self.stacks.setdefault(project, []).append(stack)

    def lists(self) -> list[dict[str, str]]:
        """Return the queries of all stack lists."""
        return [
            query for method, path, query in self.requests if (method, path) == ("GET", "/stacks")
        ]

    def answer(self, project: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if self.down:
            return 503, {"error": {"message": "Service Unavailable"}}
        if path == "/services":
            if self.engines is None:
                return 403, {
                    "error": {"message": "You are not authorized to complete this action."}
                }
            return 200, {"services": self.engines}
        if "global_tenant" in query and not self.global_list:
            return 403, {"error": {"message": "You are not authorized to use global_index."}}
        found = [
            stack
            for owner, stacks in self.stacks.items()
            if "global_tenant" in query or owner == project
            for stack in stacks
            if query["tags"] in stack["tags"]
        ]
        if marker := query.get("marker"):
            found = found[[stack["id"] for stack in found].index(marker) + 1 :]
        return 200, {"stacks": found[: int(query["limit"])]}


class FakeCloud(CloudAccess):
    """Sessions whose token is the project's name; a trust is the name of its project."""

    name = "fake"
    region = None
    interface = "public"

    def __init__(self, heat: FakeHeat) -> None:
        self._endpoint = f"http://127.0.0.1:{heat.port}"

    def service_session(self) -> Session:
        return Session(Token(self._endpoint, "service"), timeout=5)

    def tenant_session(self, trust_id: str | None) -> Session:
        if trust_id is None:
            raise CredentialRejectedError("The trust was revoked.")
        return Session(Token(self._endpoint, trust_id), timeout=5)


@contextmanager
def serving(heat: FakeHeat) -> Iterator[FakeCloud]:
    """Serve on the loopback interface."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            heat.requests.append(("GET", url.path, query))
            status, body = heat.answer(self.headers["X-Auth-Token"], url.path, query)
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    heat.port = server.server_port
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield FakeCloud(heat)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
