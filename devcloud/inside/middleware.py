"""Applies the rules for APIs to each request."""

import http
import time
from collections.abc import Callable, Iterable
from typing import Any

from waitress.channel import ClientDisconnected

from devcloud.faults import FaultFile

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class FaultMiddleware:
    """Delays, refuses or drops requests as the rules say."""

    def __init__(self, application: Application, service: str, faults: FaultFile) -> None:
        """Wrap the application of a service."""
        self._application = application
        self._service = service
        self._faults = faults

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer one request."""
        path = environ.get("PATH_INFO", "")
        if environ.get("QUERY_STRING"):
            path += "?" + environ["QUERY_STRING"]
        method = environ["REQUEST_METHOD"]
        for fault in self._faults.fire("api", service=self._service, method=method, path=path):
            if fault.action == "delay":
                time.sleep(fault.seconds)
            elif fault.action == "drop":
                # waitress closes the connection on this without sending a byte.
                raise ClientDisconnected
            else:
                phrase = http.HTTPStatus(fault.status).phrase
                body = fault.message.encode()
                start_response(
                    f"{fault.status} {phrase}",
                    [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))],
                )
                return [body]
        return self._application(environ, start_response)
