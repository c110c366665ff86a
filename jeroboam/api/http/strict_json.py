"""JSON as RFC 8259 has it; Python reads more than that, and without bounds."""

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from jeroboam.errors import InvalidRequestError

DEEPEST = 64
MOST_VALUES = 20_000
"""Far above any request of sense. Each value that is wrong costs a complaint of a kilobyte."""

SHOWN = 100

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def check(body: bytes) -> None:
    """Let a document pass that means the same to every reader.

    Raises:
        InvalidRequestError: It is no JSON in UTF-8, a key occurs twice in an object, a number is
            too large, or there is too much of it: depth, or number of values.
    """
    try:
        text = body.decode("utf-8")
        document = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except InvalidRequestError:
        raise
    except UnicodeDecodeError:
        raise InvalidRequestError("The request body is not UTF-8.") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        raise InvalidRequestError("Request body is not valid JSON.") from None
    _bounded(document)
    if _SURROGATE.search(body):
        _encodable(document)


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in members:
        if name in found:
            raise InvalidRequestError(f"The attribute {name[:SHOWN]!a} is there twice.")
        found[name] = value
    return found


def _no_constant(name: str) -> None:
    raise InvalidRequestError(f"Request body is not valid JSON: there is no number {name}.")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise InvalidRequestError("A number in the request body is too large.")
    return number


def _bounded(document: Any) -> None:
    """Walk through the document level by level, since a recursion is what must not happen."""
    level, values = [document], 0
    for _ in range(DEEPEST):
        if not level:
            return
        level = list(_inside(level))
        values += len(level)
        if values > MOST_VALUES:
            raise InvalidRequestError(
                f"The request body has more than {MOST_VALUES} values; send several requests."
            )
    if level:
        raise _too_deep()


def _inside(level: Iterable[Any]) -> Iterator[Any]:
    for value in level:
        if isinstance(value, dict):
            yield from value.values()
        elif isinstance(value, list):
            yield from value


def _encodable(document: Any) -> None:
    try:
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidRequestError(
            "The request body has half of a surrogate pair, which is no character."
        ) from None


def _too_deep() -> InvalidRequestError:
    return InvalidRequestError(f"The request body is nested deeper than {DEEPEST} levels.")
