"""Passes a call on to the HTTP application, and what comes back to the caller."""

from typing import Any, TypeAlias

import grpc

from jeroboam.api.grpc.door import Answer, Door, Request, Sender
from jeroboam.api.grpc.refusals import REQUEST_ID

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"


class Calls:
    """Asks in the name of whoever makes a call.

    Args:
        door: The way into the application.
    """

    def __init__(self, door: Door) -> None:
        self._door = door

    async def ask(self, context: Context, request: Request) -> Answer:
        """Return the answer to a request; its id goes into the call's trailing metadata.

        Raises:
            Refused: The application answered with an error.
        """
        sender = Sender.of(tuple(context.invocation_metadata() or ()))
        answer = await self._door.ask(sender, request)
        context.set_trailing_metadata(((REQUEST_ID, answer.request_id),))
        return answer
