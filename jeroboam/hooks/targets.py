"""Which URLs hooks may call, so that nobody reaches inside the cloud through them. Pure."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

from jeroboam.errors import ConfigurationError, InvalidRequestError

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

PORTS = {"http": 80, "https": 443}

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_UNSAFE = re.compile(r"[\x00-\x20\x7f-\U0010ffff\\]")
_HOST = re.compile(r"[a-z0-9_.-]+|[0-9a-f:.]*:[0-9a-f:.]*")
_DOTS = re.compile(r"(^|/)\.{1,2}(/|$)")
_ENCODED_SEPARATOR = re.compile(r"%(2f|5c|25)", re.IGNORECASE)


@dataclass(frozen=True)
class Target:
    """A URL taken apart.

    Args:
        path: Starts with a slash.
        query: Without the question mark.
    """

    scheme: str
    host: str
    port: int
    path: str
    query: str = ""

    @property
    def address(self) -> Address | None:
        """The address, where the URL names one instead of a host."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None

    @property
    def request_path(self) -> str:
        """What the request line holds."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def shown(self) -> str:
        """The target for messages; a path or query may be a secret."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}"


class Targets:
    """The operator's list of URL prefixes.

    An entry is ``scheme://host[:port][/path]``. The address behind a host's name must be public, or
    lie in one of ``networks``; an entry with an address in place of the name allows that address.

    Args:
        allowed: The entries; without any nothing is allowed.
        networks: Networks in CIDR notation that are not public and may be reached all the same.

    Raises:
        ConfigurationError: An entry is wrong.
    """

    def __init__(self, allowed: Sequence[str], networks: Sequence[str] = ()) -> None:
        self._entries = tuple(_entry(text) for text in allowed)
        self._networks = tuple(_network(text) for text in networks)

    def check(self, url: str) -> Target:
        """Return a URL's parts.

        Raises:
            InvalidRequestError: It is not allowed; the message says what to do.
        """
        target = parse(url)
        if not any(_covers(entry, target) for entry in self._entries):
            raise InvalidRequestError(
                f"The target {target.shown} is not allowed. The operator allows targets in "
                "JEROBOAM_WEBHOOK_ALLOWED."
            )
        if target.address and not self.permits(target, target.address):
            raise InvalidRequestError(f"The target {target.shown} is not allowed.")
        return target

    def permits(self, target: Target, address: Address) -> bool:
        """Whether an address may be connected to for a target that was checked."""
        if target.address is not None:
            return _real(address) == _real(target.address)
        return is_public(address) or any(_real(address) in network for network in self._networks)


def parse(url: str) -> Target:
    """Take a URL apart; what two programs could read differently is refused.

    Raises:
        InvalidRequestError: It is no plain HTTP URL.
    """
    if _UNSAFE.search(url):
        raise InvalidRequestError("The URL has a blank or another character that must be encoded.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InvalidRequestError(f"The URL cannot be read: {error}.") from None
    if parts.scheme not in PORTS or not host:
        raise InvalidRequestError("The URL must begin with https://HOST or http://HOST.")
    if not _HOST.fullmatch(host):
        raise InvalidRequestError("The URL's host must be a name or an address, without wildcards.")
    if "@" in parts.netloc:
        raise InvalidRequestError("The URL must not have a user or password in it.")
    if parts.fragment or "#" in url:
        raise InvalidRequestError("The URL must not have a fragment (#...).")
    path = parts.path or "/"
    if _ENCODED_SEPARATOR.search(path) or _DOTS.search(unquote(path)):
        raise InvalidRequestError("The URL's path must not have '..' or an encoded slash.")
    return Target(
        parts.scheme, host, PORTS[parts.scheme] if port is None else port, path, parts.query
    )


def is_public(address: Address) -> bool:
    """Whether an address is one of the open Internet."""
    real = _real(address)
    return real.is_global and not real.is_multicast and not real.is_reserved


def _real(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 one stands for."""
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if address.teredo:
            return address.teredo[1]
        return address.ipv4_mapped or address.sixtofour or address
    return address


def _covers(entry: Target, target: Target) -> bool:
    same = (entry.scheme, entry.host, entry.port) == (target.scheme, target.host, target.port)
    prefix = entry.path.rstrip("/")
    return same and (target.path == prefix or target.path.startswith(f"{prefix}/"))


def _entry(text: str) -> Target:
    try:
        target = parse(text)
    except InvalidRequestError as error:
        raise ConfigurationError(
            f"JEROBOAM_WEBHOOK_ALLOWED: '{text}' is no prefix of a URL. {error.message}"
        ) from None
    if target.query:
        raise ConfigurationError(f"JEROBOAM_WEBHOOK_ALLOWED: '{text}' must have no query (?...).")
    return target


def _network(text: str) -> _Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        raise ConfigurationError(f"JEROBOAM_WEBHOOK_NETWORKS: {error}.") from None
