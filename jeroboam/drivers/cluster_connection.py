"""A connection to the API of a cluster, by mutual TLS with a certificate made on the spot.

The standard library is enough: a handful of calls, each with a time-out, to a server whose
certificate the cluster's own authority has signed. No proxy and no redirect is followed. What is
said, and what answers mean, is the business of each engine.
"""

import http.client
import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Self
from urllib.parse import urlsplit

from jeroboam.certificates import ClientCertificate, issue_client_certificate
from jeroboam.drivers.base import ClusterSecrets
from jeroboam.errors import ClusterTimeoutError, ClusterUnreachableError

ADMINISTRATORS = "system:masters"
"""The group that Kubernetes itself lets do everything."""

USER = "jeroboam"
CERTIFICATE_LIFETIME = timedelta(minutes=30)
CONNECT_SECONDS = 5.0
CALL_SECONDS = 10.0
MOST_BYTES = 32 << 20

_LONGEST_REASON = 300


class ClusterConnection:
    """The API of one cluster; one connection, for one thread, closed by ``with``.

    Args:
        address: The URL of the API.
        authority: PEM certificate that signed the server's.
        certificate: Who asks.
        call_seconds: The longest that one call may take.
    """

    def __init__(
        self,
        address: str,
        authority: str,
        certificate: ClientCertificate,
        call_seconds: float = CALL_SECONDS,
    ) -> None:
        url = urlsplit(address)
        if url.scheme != "https" or not url.hostname:
            raise ClusterUnreachableError(f"'{address}' is no https address of a cluster's API.")
        self._address, self._call_seconds = address, call_seconds
        self._connection = http.client.HTTPSConnection(
            url.hostname,
            url.port or 443,
            timeout=min(CONNECT_SECONDS, call_seconds),
            context=_context(authority, certificate),
        )

    @classmethod
    def of(
        cls, address: str | None, secrets: ClusterSecrets, call_seconds: float = CALL_SECONDS
    ) -> Self:
        """Return the API as Jeroboam itself may use it: with all rights.

        Raises:
            ClusterUnreachableError: There is no address.
        """
        certificate = issue_client_certificate(
            secrets.kubernetes, USER, CERTIFICATE_LIFETIME, (ADMINISTRATORS,)
        )
        return cls(address or "", secrets.kubernetes.trusted, certificate, call_seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def exchange(
        self,
        method: str,
        path: str,
        content: str | None = None,
        content_type: str = "application/json",
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Send one request; return the answer, whatever it says.

        Raises:
            ClusterUnreachableError: There is none.
        """
        headers = {"Accept": "application/json", "Content-Type": content_type}
        with self._explained():
            if self._connection.sock is None:
                self._connect()
            self._connection.request(method, path, content, headers)
            answer = self._connection.getresponse()
            raw = answer.read(MOST_BYTES)
            if not answer.isclosed():
                raise http.client.HTTPException(f"more than {MOST_BYTES} bytes")
        return answer, raw

    def _connect(self) -> None:
        """Open the connection; an answer may take longer than that."""
        self._connection.connect()
        self._connection.sock.settimeout(self._call_seconds)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what goes wrong on the way into errors of Jeroboam."""
        try:
            yield
        except (OSError, http.client.HTTPException) as error:
            # What broke off must not leave its answer to the next call.
            self._connection.close()
            raise _trouble(self._address, error) from None


def _trouble(address: str, error: Exception) -> ClusterUnreachableError:
    if isinstance(error, ssl.SSLCertVerificationError):
        # Somebody else answers: a proxy, or who has the address now.
        reason = f"{address} has no certificate of this cluster: {error.verify_message}"
        return ClusterUnreachableError(reason)
    if isinstance(error, TimeoutError):
        return ClusterTimeoutError(f"{address} does not answer in time.")
    reason = str(error) or type(error).__name__
    return ClusterUnreachableError(f"{address} cannot be reached: {reason[:_LONGEST_REASON]}")


def _context(authority: str, certificate: ClientCertificate) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=authority)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # The library takes a key from a file only; this one lies in memory and has no name.
    descriptor = os.memfd_create("certificate", os.MFD_CLOEXEC)
    try:
        os.write(descriptor, f"{certificate.certificate}{certificate.private_key}".encode())
        context.load_cert_chain(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)
    return context
