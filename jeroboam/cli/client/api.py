"""One request to the service and its answer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from jeroboam.cli.client.connection import SERVER_ERROR, Connection, connect, translated
from jeroboam.cli.client.problems import (
    NotLoggedInError,
    RequestRefusedError,
    ServiceUnreachableError,
)
from jeroboam.cli.client.text import one_line

MICROVERSION = "container-infra 1.14"
UNAUTHORIZED = 401
CLIENT_ERROR = 400

Query = Mapping[str, Any]
Body = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What the service said.

    Args:
        at: The service's time, so that a wrong clock on this machine changes no duration.
    """

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)
    at: datetime = field(default_factory=lambda: datetime.now(UTC))


class Api:
    """The service's HTTP API; logs in at the first request.

    Args:
        cloud_name: An entry of clouds.yaml; ``None`` lets the environment decide.
    """

    def __init__(self, cloud_name: str | None) -> None:
        self._cloud_name = cloud_name
        self._connection: Connection | None = None

    def get(self, *path: str, query: Query | None = None) -> Body:
        """Return what is at a path."""
        return self.send("GET", *path, query=query).body  # type: ignore[no-any-return]

    def pages(self, *path: str, query: Query | None = None) -> Iterator[Body]:
        """Yield all items of a list, however many pages it has.

        The list's key in the body is the last part of its path.
        """
        wanted: Query | None = query
        while True:
            body = self.get(*path, query=wanted)
            yield from body[path[-1]]
            if not body.get("next"):
                return
            wanted = dict(parse_qsl(urlsplit(body["next"]).query))

    def send(
        self,
        method: str,
        *path: str,
        query: Query | None = None,
        body: Any = None,
    ) -> Answer:
        """Send a request.

        Raises:
            NotLoggedInError: The credentials are missing or wrong.
            RequestRefusedError: The service refuses, with its own words.
            ServiceUnreachableError: It does not answer, or answers 5xx.
        """
        connection = self._connected()
        with translated():
            response = connection.session.request(
                "/".join([connection.base, *(quote(part, safe="") for part in path)]),
                method,
                params=_arguments(query or {}),
                json=body,
                headers={"OpenStack-API-Version": MICROVERSION, "Accept": "application/json"},
                raise_exc=False,
            )
        answer = Answer(
            response.status_code,
            _json_of(response),
            response.headers,
            _date_of(response.headers.get("Date")),
        )
        _raise_for(answer)
        if method == "GET" and not isinstance(answer.body, dict):
            raise ServiceUnreachableError(f"What answers at {connection.base} is not this API.")
        return answer

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = connect(self._cloud_name)
        return self._connection


def _arguments(query: Query) -> dict[str, str]:
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in query.items()
        if value is not None
    }


def _json_of(response: Any) -> Any:
    try:
        return response.json()
    except ValueError:
        return None


def _date_of(header: str | None) -> datetime:
    try:
        return parsedate_to_datetime(header or "")
    except ValueError:
        return datetime.now(UTC)


def _raise_for(answer: Answer) -> None:
    if answer.status < CLIENT_ERROR:
        return
    message = message_of(answer.body) or f"The service answered {answer.status} without a reason."
    if answer.status == UNAUTHORIZED:
        raise NotLoggedInError(message)
    if answer.status >= SERVER_ERROR:
        raise ServiceUnreachableError(message)
    raise RequestRefusedError(answer.status, message)


def message_of(body: Any) -> str:
    """Return why a request was refused; nothing if the body does not say."""
    match body:
        case {"errors": [{"detail": str(detail), "operation": {"uuid": str(uuid)}}, *_]}:
            return one_line(f"{detail} Look on: jeroboam operation watch {uuid}")
        case {"errors": [{"detail": str(detail)}, *_]} if detail:
            return one_line(detail)
        case {"errors": [{"description": str(description)}, *_]}:
            return one_line(description)
        case {"error": {"message": str(message)}}:
            return one_line(message)
    return ""
