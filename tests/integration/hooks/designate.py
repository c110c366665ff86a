"""A stand-in for Designate, written to its API reference: zones and recordsets of version 2.

It keeps what the reference promises: 201 and 202 with the recordset, 409 for a name and type that
exist, filters by name, type and description, ``PENDING`` until nobody cares.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token

from jeroboam.drivers.base import CloudAccess
from jeroboam.models import new_uuid

ZONE = "clusters.example.org."
_RECORDSETS = re.compile(r"/v2/zones/([^/]+)/recordsets(?:/([^/]+))?")


@dataclass
class Designate(CloudAccess):
    """The service, and the cloud that leads to it.

    Args:
        down: Whether it answers 503.
    """

    url: str = ""
    down: bool = False
    zones: dict[str, str] = field(default_factory=lambda: {"zone-1": ZONE})
    recordsets: dict[str, dict[str, Any]] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    trusts: list[str | None] = field(default_factory=list)

    name = "jeroboam"
    region = None
    interface = "public"

    def service_session(self) -> Session:
        raise AssertionError("Records belong to the cluster's owner.")

    def tenant_session(self, trust_id: str | None) -> Session:
        self.trusts.append(trust_id)
        return Session(auth=Token(f"{self.url}/v2", "token"))

    @property
    def records(self) -> dict[str, list[str]]:
        return {one["name"]: one["records"] for one in self.recordsets.values()}

    def handle(self, method: str, url: str, body: Any) -> tuple[int, Any]:
        parts = urlsplit(url)
        query = dict(parse_qsl(parts.query))
        if self.down:
            return 503, {"code": 503, "message": "maintenance"}
        if parts.path in {"", "/"}:
            link = {"href": f"{self.url}/v2/", "rel": "self"}
            return 200, {"versions": [{"id": "v2", "status": "CURRENT", "links": [link]}]}
        if parts.path == "/v2/zones":
            found = [{"id": key, "name": name} for key, name in self.zones.items()]
            return 200, {"zones": [one for one in found if one["name"] == query.get("name")]}
        if match := _RECORDSETS.fullmatch(parts.path):
            if method != "GET":
                self.writes.append(method)
            return self._recordset(method, match[1], match[2], query, body)
        return 404, {"code": 404}

    def _recordset(
        self, method: str, zone: str, ident: str | None, query: dict[str, str], body: Any
    ) -> tuple[int, Any]:
        if zone not in self.zones or (ident and ident not in self.recordsets):
            return 404, {"code": 404, "type": "recordset_not_found"}
        if method == "GET":
            filters = {key: query[key] for key in ("name", "type", "description") if key in query}
            found = [
                one
                for one in self.recordsets.values()
                if one["zone_id"] == zone and all(one[key] == filters[key] for key in filters)
            ]
            return 200, {"recordsets": found, "links": {}, "metadata": {"total_count": len(found)}}
        if method == "POST":
            return self._create(zone, body)
        assert ident
        if method == "PUT":
            self.recordsets[ident] |= body
            return 202, self.recordsets[ident]
        return 202, self.recordsets.pop(ident)

    def _create(self, zone: str, body: Any) -> tuple[int, Any]:
        same = ("name", "type")
        if any(all(one[key] == body[key] for key in same) for one in self.recordsets.values()):
            return 409, {"code": 409, "type": "duplicate_recordset", "message": "Duplicate"}
        made = {"id": new_uuid(), "zone_id": zone, "status": "PENDING", "description": None} | body
        self.recordsets[made["id"]] = made
        return 201, made


@contextmanager
def designate() -> Iterator[Designate]:
    """Yield the service, listening on a port of the loopback interface."""
    service = Designate()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"null")
            status, answer = service.handle(self.command, self.path, body)
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        # The names are the library's.
        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Be silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        service.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()
