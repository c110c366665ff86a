"""HTTP requests of hooks: to the address that was checked, within a time, of a bounded size."""

import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from jeroboam.errors import (
    CloudUnavailableError,
    ConfigurationError,
    DriverContractError,
    InvalidRequestError,
    JeroboamError,
)
from jeroboam.hooks.base import Reply
from jeroboam.hooks.targets import PORTS, Target, Targets

MAX_REPLY_BYTES = 64 * 1024

Resolve = Callable[..., Sequence[tuple[Any, ...]]]


class GuardedOutbound:
    """Posts to allowed targets.

    The name is looked up once and the connection goes to an address that was checked, so that a
    name cannot change its meaning in between. Proxies of the environment are not used, for they
    would look the name up again; redirects are not followed.

    Args:
        targets: What is allowed.
        tls: Trust and protocol; by default the system's.
        resolve: Looks names up as ``socket.getaddrinfo`` does.
    """

    def __init__(
        self,
        targets: Targets,
        *,
        tls: ssl.SSLContext | None = None,
        resolve: Resolve = socket.getaddrinfo,
    ) -> None:
        self._targets = targets
        self._tls = tls
        self._resolve = resolve

    def check(self, url: str) -> None:
        """Refuse a target that is not allowed."""
        self._targets.check(url)

    def post(
        self, url: str, body: bytes, headers: Mapping[str, str], timeout_seconds: float
    ) -> Reply:
        """Send a request and return the reply, whatever its status."""
        target = self._targets.check(url)
        tls = self._context if target.scheme == "https" else None
        connection = _Connection(target, self._address(target), timeout_seconds, tls)
        with _errors(target, connection):
            try:
                connection.request(
                    "POST",
                    target.request_path,
                    body=body,
                    headers={**headers, "Connection": "close"},
                )
                response = connection.getresponse()
                reply = _reply(response, target)
                if connection.timed_out:
                    # What was cut off may look whole.
                    raise TimeoutError
                return reply
            finally:
                connection.finish()

    @property
    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls

    def _address(self, target: Target) -> str:
        try:
            found = self._resolve(target.host, target.port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise CloudUnavailableError(
                f"The name of {target.shown} cannot be looked up ({error.strerror})."
            ) from None
        addresses = [str(entry[4][0]).partition("%")[0] for entry in found]
        for address in addresses:
            if self._targets.permits(target, ipaddress.ip_address(address)):
                return address
        raise InvalidRequestError(
            f"The target {target.shown} lies on an address that is not public. The operator allows "
            "networks in JEROBOAM_WEBHOOK_NETWORKS."
        )


class _Connection(http.client.HTTPConnection):
    """A connection to one address under another name, which ends when its time is up."""

    def __init__(
        self, target: Target, address: str, timeout_seconds: float, tls: ssl.SSLContext | None
    ) -> None:
        super().__init__(target.host, target.port, timeout=timeout_seconds)
        self.default_port = PORTS[target.scheme]
        self.timed_out = False
        self._address = address
        self._seconds = timeout_seconds
        self._tls = tls
        self._watched: socket.socket | None = None
        self._timer = threading.Timer(timeout_seconds, self._expire)

    def connect(self) -> None:
        """Connect, and start the clock that a dripping server cannot stop."""
        plain = socket.create_connection((self._address, self.port), self._seconds)
        self._watched = plain.dup()
        self._timer.daemon = True
        self._timer.start()
        self.sock = plain
        if self._tls:
            self.sock = self._tls.wrap_socket(plain, server_hostname=self.host)

    def finish(self) -> None:
        """Close all; ``close`` is called by the library while the reply is still read."""
        self._timer.cancel()
        self.close()
        if self._watched:
            self._watched.close()

    def _expire(self) -> None:
        self.timed_out = True
        if self._watched:
            # Through a duplicate, since TLS may have taken the first descriptor over.
            with suppress(OSError):
                self._watched.shutdown(socket.SHUT_RDWR)


def _reply(response: http.client.HTTPResponse, target: Target) -> Reply:
    body = response.read(MAX_REPLY_BYTES + 1)
    if len(body) > MAX_REPLY_BYTES:
        raise DriverContractError(
            f"The reply of {target.shown} is larger than {MAX_REPLY_BYTES} bytes."
        )
    if response.length:
        raise http.client.IncompleteRead(body, response.length)
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Reply(response.status, body, headers)


@contextmanager
def _errors(target: Target, connection: _Connection) -> Iterator[None]:
    """Say in our words what went wrong; the library's may quote the URL."""
    try:
        yield
    except JeroboamError:
        raise
    except ssl.SSLCertVerificationError as error:
        raise ConfigurationError(
            f"The certificate of {target.shown} is not trusted: {error.verify_message}."
        ) from None
    except (OSError, http.client.HTTPException) as error:
        late = connection.timed_out or isinstance(error, TimeoutError)
        how = "in time" if late else f"properly ({type(error).__name__})"
        raise CloudUnavailableError(f"{target.shown} does not answer {how}.") from None
