"""Talks to the APIs of Docker, Marathon and Mesos."""

import http
import json
from collections.abc import Mapping
from typing import Any

from jeroboam.drivers.cluster_connection import ClusterConnection
from jeroboam.drivers.nodes.health import LONGEST_REASON
from jeroboam.errors import (
    ClusterUnreachableError,
    ConflictError,
    JeroboamError,
    NotFoundError,
)
from jeroboam.models import HealthStatus

Found = tuple[HealthStatus, str]

OK: Found = (HealthStatus.HEALTHY, "ok")


class EngineApi(ClusterConnection):
    """The API of one cluster, whose answers may be text or lists as well as objects."""

    def read(self, path: str) -> Any:
        """Return what an answer holds, whatever kind of JSON it is.

        Raises:
            NotFoundError: It does not exist.
            ClusterUnreachableError: The API does not answer, refuses, or sends something else.
        """
        answer, raw = self.exchange("GET", path)
        if answer.status == http.HTTPStatus.NOT_FOUND:
            raise NotFoundError(f"The cluster says: {_words(raw)}")
        if answer.status >= http.HTTPStatus.BAD_REQUEST:
            raise ClusterUnreachableError(
                f"The cluster's API refuses: HTTP {answer.status} {_words(raw)}"
            )
        try:
            return json.loads(raw)
        except ValueError:
            raise ClusterUnreachableError(
                "The cluster's API answers with something else than JSON."
            ) from None

    def objects(self, path: str) -> list[dict[str, Any]]:
        """Return a list of objects.

        Raises:
            ClusterUnreachableError: As with ``read``.
        """
        found = self.read(path)
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise ClusterUnreachableError("The cluster's API answers with something else.")
        return found

    def send(self, path: str, body: Mapping[str, Any]) -> None:
        """Send an object; nothing is wanted back.

        Raises:
            ConflictError: It was changed by somebody else meanwhile.
            ClusterUnreachableError: As with ``read``.
        """
        answer, raw = self.exchange("POST", path, json.dumps(body))
        if answer.status >= http.HTTPStatus.BAD_REQUEST:
            words = _words(raw)
            if "out of sequence" in words or answer.status == http.HTTPStatus.CONFLICT:
                raise ConflictError(f"The cluster says: {words}")
            raise ClusterUnreachableError(
                f"The cluster's API refuses: HTTP {answer.status} {words}"
            )

    def probe(self, path: str) -> Found:
        """Ask a component whether it is well; what cannot be reached is ``UNKNOWN``."""
        try:
            answer, raw = self.exchange("GET", path)
        except JeroboamError as error:
            return unknown(error)
        if answer.status == http.HTTPStatus.OK:
            return OK
        if answer.status in {http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.FORBIDDEN}:
            return HealthStatus.UNKNOWN, f"it does not know Jeroboam (HTTP {answer.status})"
        reason = f"it says HTTP {answer.status} {_words(raw)}".strip()
        return HealthStatus.UNHEALTHY, reason[:LONGEST_REASON]


def unknown(error: JeroboamError) -> Found:
    """Return what is found of a component that did not tell."""
    return HealthStatus.UNKNOWN, error.message[:LONGEST_REASON]


def _words(raw: bytes) -> str:
    """Return an error's text in one line; Docker and Marathon call it ``message``."""
    text = raw[:4096].decode(errors="replace")
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if isinstance(found, dict) and found.get("message"):
        text = str(found["message"])
    return " ".join(text.split())[:LONGEST_REASON]
