"""Talks to the API of a Kubernetes cluster."""

import http
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from jeroboam.drivers.cluster_connection import ClusterConnection
from jeroboam.errors import (
    ClusterUnreachableError,
    ConflictError,
    InvalidRequestError,
    JeroboamError,
    NotFoundError,
    RateLimitedError,
)

PAGE = 500

_LONGEST_REASON = 300


class ClusterApi(ClusterConnection):
    """The API of one cluster, whose answers are objects."""

    def get(self, path: str, **query: str | int) -> dict[str, Any]:
        """Return an object.

        Raises:
            NotFoundError: It does not exist.
            ClusterUnreachableError: The API does not answer, or refuses.
        """
        return self.request("GET", f"{path}?{urlencode(query)}" if query else path)

    def items(self, path: str, **query: str | int) -> Iterator[dict[str, Any]]:
        """Yield the objects of a list, page by page."""
        token = ""
        while True:
            more = {"continue": token} if token else {}
            page = self.get(path, **{"limit": PAGE, **query}, **more)
            yield from page.get("items") or ()
            token = page.get("metadata", {}).get("continue") or ""
            if not token:
                return

    def create(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Create an object; one that exists is a ``ConflictError``."""
        return self.request("POST", path, body)

    def merge(self, path: str, patch: Mapping[str, Any]) -> dict[str, Any]:
        """Change an object by a merge patch."""
        return self.request("PATCH", path, patch, "application/merge-patch+json")

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        content_type: str = "application/json",
    ) -> dict[str, Any]:
        """Send one request; return the answer's JSON.

        Raises:
            JeroboamError: Of the class that fits the answer.
        """
        content = None if body is None else json.dumps(body)
        answer, raw = self.exchange(method, path, content, content_type)
        if answer.status >= http.HTTPStatus.BAD_REQUEST:
            raise _refusal(answer.status, answer.headers.get("Retry-After"), raw)
        return _object(raw)


def _object(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw or b"{}")
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ClusterUnreachableError(
            "The cluster's API answers with something else than an object."
        )
    return found


def _refusal(status: int, retry_after: str | None, raw: bytes) -> JeroboamError:
    message = None
    with suppress(ClusterUnreachableError):
        message = _object(raw).get("message")
    reason = str(message or f"HTTP {status}")[:_LONGEST_REASON]
    match status:
        case 404:
            return NotFoundError(f"The cluster says: {reason}")
        case 409:
            return ConflictError(f"The cluster says: {reason}")
        case 400 | 422:
            return InvalidRequestError(f"The cluster says: {reason}")
        case 429:
            pause = float(retry_after) if retry_after and retry_after.isdigit() else 5.0
            return RateLimitedError(f"The cluster says: {reason}", pause)
    return ClusterUnreachableError(f"The cluster's API refuses: {reason}")
