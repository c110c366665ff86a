"""Between protocol buffers and the JSON of the HTTP API; the names of fields are the same."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message

from jeroboam.api.grpc.refusals import invalid

PAGE_SIZE = 100

M = TypeVar("M", bound=Message)

_IDENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,254}")
_ROUTES = frozenset({"detail"})
"""Words that are no name in a path of the HTTP API."""


def fill(message: M, body: Mapping[str, Any]) -> M:
    """Fill a message from a body; what the protocol does not have is left out."""
    return ParseDict(dict(body), message, ignore_unknown_fields=True)


def body_of(message: Message, *left_out: str) -> dict[str, Any]:
    """Return what is set in a message, as the body of a request."""
    given: dict[str, Any] = MessageToDict(message, preserving_proto_field_name=True)
    return {name: value for name, value in given.items() if name not in left_out}


def segment(field: str, text: str) -> str:
    """Return a uuid or name that goes into a path.

    Raises:
        Refused: It is none: it would lead to another route, where other rules hold.
    """
    if not _IDENT.fullmatch(text) or text in _ROUTES:
        shown = text[:100]
        raise invalid(f"{field} must be a uuid or a name, and is '{shown}'.")
    return text


def yes(flag: bool) -> str | None:  # noqa: FBT001 - the value of an argument of a query
    """Return the text of a query argument that is given only when it is true."""
    return "true" if flag else None


def choice(message: Message, field: str) -> str | None:
    """Return the text of a query argument that may be true, false or not given."""
    return str(getattr(message, field)).lower() if message.HasField(field) else None


def page(size: int, token: str) -> dict[str, str | None]:
    """Return the query arguments of a page."""
    return {"limit": str(size or PAGE_SIZE), "marker": token or None}


def next_token(body: Mapping[str, Any]) -> str:
    """Return the token of the page after this one; an empty one if this is the last."""
    marker = parse_qs(urlsplit(body.get("next") or "").query).get("marker", [""])
    return marker[0]
