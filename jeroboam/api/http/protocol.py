"""HTTP with clients that are slow, send nonsense, or do not read what they asked for.

uvicorn waits for a request for ever, and tells of what it cannot read in plain text.
"""

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from jeroboam.api.http.errors import error_body

BAD_REQUEST = 400
TIMEOUT = 408

_REASONS = {
    431: "The headers of the request are too large.",
    501: "The transfer coding of the request is unknown; 'chunked' is possible.",
}


def patient_for(seconds: float) -> type[H11Protocol]:
    """Return a protocol for uvicorn whose patience with clients has an end.

    Args:
        seconds: How long a client may take to send one request, from its first byte or the
            connection on, and how long it may read nothing of the answer.
    """

    class Bounded(_Patient):
        patience = seconds

    return Bounded


class _Patient(H11Protocol):
    patience: float

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._sending = _Clock(self.loop, self.patience)
        self._reading = _Clock(self.loop, self.patience)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._sending.stop()
        self._reading.stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reading.start(self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._reading.stop()

    def send_400_response(self, msg: str) -> None:
        """Tell what is wrong with what could not be read; uvicorn calls this as it handles it."""
        status = getattr(sys.exc_info()[1], "error_status_hint", BAD_REQUEST)
        self._refuse(status, _REASONS.get(status, msg))

    def _watch(self) -> None:
        """Wait no longer than allowed for the rest of a request; a whole one has no clock."""
        if self.transport.is_closing() or self.conn.their_state not in {h11.IDLE, h11.SEND_BODY}:
            self._sending.stop()
        else:
            self._sending.start(self._give_up)

    def _give_up(self) -> None:
        if self.transport.is_closing():
            return
        begun = self.conn.their_state is h11.SEND_BODY or self.conn.trailing_data[0]
        if begun:
            self._refuse(
                TIMEOUT, f"The request did not arrive as a whole within {self.patience:g} seconds."
            )
        else:
            self.transport.close()

    def _refuse(self, status: int, message: str) -> None:
        """Answer in place of the application, which hears that the client has gone."""
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            # The client reads another answer at this moment, so this one has no place.
            self.transport.abort()
            return
        body = json.dumps(error_body(status, message)).encode()
        headers = [
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            ("connection", "close"),
        ]
        reason = STATUS_PHRASES.get(status, b"")
        answer = h11.Response(status_code=status, headers=headers, reason=reason)
        for event in (answer, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class _Clock:
    """Calls something once when time is over; a start while it runs changes nothing."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._loop = loop
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None

    def start(self, what: Callable[[], None]) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(self._seconds, self._ring, what)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self, what: Callable[[], None]) -> None:
        self._timer = None
        what()
