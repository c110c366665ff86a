"""Finds the wait-condition calls in a server's user data.

Knows the formats, not the templates: whatever user data may be wrapped in (base64, gzip,
MIME parts, Ignition, cloud-config) is unwrapped until only text is left, and the text is
searched for the calls that Heat's ``curl_cli`` and ``endpoint`` / ``token`` attributes make.
"""

import base64
import binascii
import email
import email.policy
import gzip
import json
import re
import urllib.parse
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

DEEPEST = 8
BIGGEST = 4 << 20
SHORTEST = 16

_GZIP = b"\x1f\x8b"
_CONSOLE = "console"
_ENDPOINT = re.compile(
    r"https?://[^\s'\"<>\\]+/stacks/[^\s'\"<>\\]+/resources/[^\s'\"<>\\/]+/signal"
)
_HEADER = re.compile(r"X-Auth-Token['\"]?\s*[:=]\s*['\"]?([\w.~+/-]{16,}=*)", re.IGNORECASE)
_VARIABLE = re.compile(
    r"^[^\S\n]*(?:export\s+|-\s+)?[\"']?(\w*token\w*)[\"']?\s*[:=]\s*[\"']?([\w.~+/-]{16,}=*)",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Login:
    """A user of Heat's, with whom a node gets a token."""

    auth_url: str
    user_id: str
    password: str
    project_id: str


@dataclass(frozen=True, slots=True)
class Signal:
    """A report that the node is to make.

    Attributes:
        endpoint: Where to; empty for a report on the console.
        token: With which.
        login: With what to get a token first, if none is given.
        console: The word that a report on the console begins with.
    """

    endpoint: str
    token: str = ""
    login: Login | None = None
    console: str = ""


def signals(user_data: str | bytes) -> list[Signal]:
    """Return each call once, in the order in which they appear."""
    raw = user_data.encode() if isinstance(user_data, str) else user_data
    found: dict[Signal, None] = {}
    texts = list(dict.fromkeys(_texts(raw, DEEPEST)))
    shared = [token for text in texts for token in _tokens(text)]
    for text in texts:
        if given := _with_login(text) or _on_console(text):
            found.setdefault(given)
            continue
        for endpoint, token in _pairs(text, shared):
            found.setdefault(Signal(endpoint, token))
    return list(found)


def _with_login(text: str) -> Signal | None:
    """Read the attribute ``signal`` of a handle whose transport is ``HEAT_SIGNAL``."""
    try:
        tree = json.loads(text)
        login = Login(tree["auth_url"], tree["user_id"], tree["password"], tree["project_id"])
        return Signal(tree["alarm_url"], login=login)
    except (ValueError, TypeError, KeyError):
        return None


def _on_console(text: str) -> Signal | None:
    """Read a JSON document that holds nothing but the first word of a report on the console."""
    try:
        tree = json.loads(text)
    except ValueError:
        return None
    word = tree.get(_CONSOLE) if isinstance(tree, dict) and len(tree) == 1 else None
    return Signal("", console=word) if isinstance(word, str) and word else None


def _tokens(text: str) -> list[str]:
    return _HEADER.findall(text) + [value for _, value in _VARIABLE.findall(text)]


def _pairs(text: str, shared: list[str]) -> Iterator[tuple[str, str]]:
    """Match endpoints with tokens: on one line, else in one file, else anywhere."""
    near = [value for _, value in _VARIABLE.findall(text)] or _HEADER.findall(text)
    for number, match in enumerate(_ENDPOINT.finditer(text)):
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        line = text[start : end if end >= 0 else len(text)]
        headers = list(_HEADER.finditer(line))
        if headers:
            place = match.start() - start
            yield match.group(), min(headers, key=lambda h: abs(h.start() - place)).group(1)
        elif near:
            yield match.group(), near[min(number, len(near) - 1)]
        elif len(set(shared)) == 1:
            yield match.group(), shared[0]


def _texts(raw: bytes, depth: int) -> Iterator[str]:
    """Yield every piece of text inside a blob."""
    if depth <= 0 or not raw or len(raw) > BIGGEST:
        return
    if raw.startswith(_GZIP):
        yield from _texts(_gunzip(raw), depth - 1)
        return
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return
    decoded = _base64(text)
    if decoded is not None:
        yield from _texts(decoded, depth - 1)
        return
    stripped = text.lstrip()
    if _is_mime(stripped):
        yield from _mime(stripped, depth)
    elif stripped.startswith(("{", "[", "#cloud-config")):
        yield from _structured(text, depth)
    else:
        yield text


def _is_mime(text: str) -> bool:
    head = text[:4000].lower()
    return head.startswith(("content-type:", "mime-version:", "from ")) and "multipart/" in head


def _mime(text: str, depth: int) -> Iterator[str]:
    for part in email.message_from_string(text, policy=email.policy.compat32).walk():
        payload = None if part.is_multipart() else part.get_payload(decode=True)
        if isinstance(payload, bytes):
            yield from _texts(payload, depth - 1)


def _structured(text: str, depth: int) -> Iterator[str]:
    """Walk JSON or YAML; Ignition and cloud-config differ only in how they name things."""
    try:
        tree = json.loads(text) if text.lstrip()[0] in "{[" else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError):
        yield text
        return
    if isinstance(tree, dict) and ("alarm_url" in tree or set(tree) == {_CONSOLE}):
        yield text
        return
    for value in _strings(tree):
        if value.startswith("data:"):
            yield from _texts(_data_url(value), depth - 1)
        else:
            yield from _texts(value.encode(), depth - 1)


def _strings(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, bytes):
        yield tree.decode(errors="replace")
    elif isinstance(tree, dict):
        for value in tree.values():
            yield from _strings(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _strings(value)


def _data_url(url: str) -> bytes:
    header, _, data = url.partition(",")
    raw = urllib.parse.unquote_to_bytes(data)
    if header.endswith(";base64"):
        try:
            return base64.b64decode(raw, validate=False)
        except binascii.Error:
            return b""
    return raw


def _gunzip(raw: bytes) -> bytes:
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error):
        return b""


def _base64(text: str) -> bytes | None:
    """Decode text that is base64 and nothing else, if text or gzip is inside."""
    compact = "".join(text.split())
    if (
        len(compact) < SHORTEST
        or len(compact) % 4
        or not re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", compact)
    ):
        return None
    raw = base64.b64decode(compact)
    if raw.startswith(_GZIP):
        return raw
    try:
        return raw if raw.decode().isprintable() or "\n" in raw.decode() else None
    except UnicodeDecodeError:
        return None
