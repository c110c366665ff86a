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
from jeroboam.drivers.heat.tags import TAG
from jeroboam.errors import CredentialRejectedError


@dataclass
class FakeHeat:
    """The state and the record of one Heat.

    Args:
        stacks: Records by project.
        resources: Records of any stack's resources.
        events: Records of any stack's events.
        engines: Records of the service list; ``None`` refuses to show them.
        template: What any stack is made from.
        files: What belongs to that.
        global_list: Whether all projects may be listed at once.
        name_is_taken: Whether a create meets a stack that another call has just made.
        requests: Method, path and query or body of each; the token names the project.
    """

    stacks: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    resources: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    engines: list[dict[str, Any]] | None = field(default_factory=list)
    template: dict[str, Any] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    global_list: bool = True
    down: bool = False
    name_is_taken: bool = False
    requests: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    port: int = 0

    def add(self, project: str, cluster_id: str, status: str, **record: Any) -> None:
        stack = {
            "id": f"stack-{cluster_id}",
            "stack_name": f"name-{cluster_id}",
            "stack_status": status,
            "creation_time": "2026-01-02T12:00:00Z",
            "tags": [TAG, cluster_id, "key"],
            "parameters": {},
            **record,
        }
        self.stacks.setdefault(project, []).append(stack)

    def lists(self) -> list[dict[str, Any]]:
        """Return the queries of all stack lists."""
        return [
            query for method, path, query in self.requests if (method, path) == ("GET", "/stacks")
        ]

    def changes(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Return all requests but those that only look."""
        return [request for request in self.requests if request[0] != "GET"]

    def find(self, ident: str) -> dict[str, Any] | None:
        stacks = (stack for owned in self.stacks.values() for stack in owned)
        return next((s for s in stacks if ident in {s["id"], s["stack_name"]}), None)

    def show(self, ident: str) -> tuple[int, Any]:
        found = self.find(ident)
        if found is None:
            return 404, {"error": {"message": f"The Stack ({ident}) could not be found."}}
        return 200, {"stack": found}

    def change(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """Take a create, an update or a delete; a name can be used once."""
        if "/resources/" in path:
            return 200, None
        found = self.find(body.get("stack_name", path.rsplit("/", 1)[-1]))
        if method == "POST":
            if found or self.name_is_taken:
                return 409, {"error": {"message": "The Stack already exists."}}
            return 201, {"stack": {"id": "new"}}
        if found is None:
            return 404, {"error": {"message": "The Stack could not be found."}}
        return 202 if method == "PATCH" else 204, None

    def answer(self, project: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if self.down:
            return 503, {"error": {"message": "Service Unavailable"}}
        if path == "/services":
            if self.engines is None:
                return 403, {
                    "error": {"message": "You are not authorized to complete this action."}
                }
            return 200, {"services": self.engines}
        what = path.rsplit("/", 1)[-1]
        if what in {"template", "files", "resources", "events"}:
            found = getattr(self, what)
            return 200, {what: found} if what in {"resources", "events"} else found
        if path.startswith("/stacks/"):
            return self.show(path.rsplit("/", 1)[-1])
        return self.listed(project, query)

    def listed(self, project: str, query: dict[str, str]) -> tuple[int, Any]:
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
        return 200, {"stacks": found[: int(query.get("limit", len(found)))]}


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
            self.reply(*heat.answer(self.headers["X-Auth-Token"], url.path, query))

        def change(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(sent or b"{}")
            heat.requests.append((self.command, self.path, body))
            self.reply(*heat.change(self.command, self.path, body))

        def do_POST(self) -> None:
            self.change()

        def do_PATCH(self) -> None:
            self.change()

        def do_DELETE(self) -> None:
            self.change()

        def reply(self, status: int, body: Any) -> None:
            data = b"" if body is None else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            if stack := (body or {}).get("stack"):
                # For a stack's id the client asks where the stack is.
                place = f"/stacks/{stack.get('stack_name')}/{stack['id']}"
                self.send_header("Location", f"http://127.0.0.1:{heat.port}{place}")
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
