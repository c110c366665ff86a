"""Looks on at an operation until it has ended."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console

from jeroboam.cli.client.api import Api
from jeroboam.cli.client.displays import Display, display_on
from jeroboam.cli.client.output import say
from jeroboam.cli.client.problems import ServiceUnreachableError
from jeroboam.cli.client.progress import Operation
from jeroboam.cli.client.text import duration

EXIT_SUCCEEDED = 0
EXIT_NOT_SUCCEEDED = 2
EXIT_INTERRUPTED = 130

INTERVAL_SECONDS = 1.0
PATIENCE_SECONDS = 300.0
"""How long the service may be away while somebody watches: longer than any restart takes."""


@dataclass(frozen=True)
class Pace:
    """How often to look, and how long to bear with a service that does not answer; seconds."""

    interval: float = INTERVAL_SECONDS
    patience: float = PATIENCE_SECONDS


def watch(api: Api, uuid: str, console: Console, pace: Pace) -> int:
    """Show an operation's steps until it has ended, and return the exit code.

    Raises:
        ServiceUnreachableError: The service was away for too long.
        RequestRefusedError: There is no such operation.
    """
    try:
        with display_on(console) as display:
            operation = _until_ended(api, uuid, display, pace)
    except KeyboardInterrupt:
        say(console, f"The operation goes on. Look again: jeroboam operation watch {uuid}")
        return EXIT_INTERRUPTED
    return EXIT_SUCCEEDED if operation.succeeded else EXIT_NOT_SUCCEEDED


def _until_ended(api: Api, uuid: str, display: Display, pace: Pace) -> Operation:
    looks = _looks(api, uuid, display, pace)
    operation = next(looks)
    display.show(operation)
    while not operation.ended:
        time.sleep(pace.interval)
        operation = next(looks)
        display.show(operation)
    return operation


def _looks(api: Api, uuid: str, display: Display, pace: Pace) -> Iterator[Operation]:
    """Yield the operation for ever; bear with a service that is away for a while."""
    answered: float | None = None
    while True:
        try:
            answer = api.send("GET", "operations", uuid)
        except ServiceUnreachableError as error:
            # Somebody who never got an answer has a wrong URL, and wants to know at once.
            left = answered + pace.patience - time.monotonic() if answered else 0.0
            if left <= 0:
                raise
            display.trouble(f"The API does not answer, trying for {duration(left)} more: {error}")
            time.sleep(pace.interval)
        else:
            answered = time.monotonic()
            yield Operation.of(answer.body, answer.at)
