"""The API process of the fault harness: the product's own, with a made-up cloud around it.

While there is a file ``crash-api`` in the run's directory, the next accepted operation kills it
before its run is started.
"""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

from jeroboam import logging, settings
from jeroboam.api.http import server
from jeroboam.api.http.caller import Credentials, Refusal
from jeroboam.hooks.registry import HookRegistry
from jeroboam.models import Identity, Operation
from jeroboam.workflows.client import OperationClient
from tests.chaos.hook import ChaosHook
from tests.fakes import NoCloud
from tests.integration.api.cloud import FakeCloud, FakeTrusts, authenticate

CRASH = "crash-api"


class Authenticator:
    """Knows the people of the API's tests."""

    async def __call__(self, credentials: Credentials) -> Identity | Refusal:
        return await authenticate(credentials)

    def close(self) -> None:
        """Have nothing to close."""


class FragileClient(OperationClient):
    """Dies between the promise and its fulfilment, when it is told to."""

    async def start(self, operation: Operation) -> None:
        """Start a run, or die."""
        crash = Path(os.environ["CHAOS_DIRECTORY"]) / CRASH
        if crash.exists():
            crash.unlink(missing_ok=True)
            os.kill(os.getpid(), signal.SIGKILL)
        await super().start(operation)


def main() -> None:
    """Serve until it is killed."""
    hooks = HookRegistry([ChaosHook(Path(os.environ["CHAOS_DIRECTORY"]))])
    parts: dict[str, Any] = {
        "Cloud": lambda *_, **__: NoCloud(),
        "KeystoneAuthenticator": lambda _: Authenticator(),
        "OpenStackDirectory": lambda *_, **__: FakeCloud(),
        "KeystoneTrusts": lambda *_: FakeTrusts(),
        "OperationClient": FragileClient,
    }
    for name, part in parts.items():
        if not hasattr(server, name):
            raise RuntimeError(f"the API has no {name} any more")
        setattr(server, name, part)
    HookRegistry.load = lambda *_, **__: hooks  # type: ignore[method-assign,assignment]
    configured = settings.load()
    logging.configure(configured)
    asyncio.run(server.serve(configured))


if __name__ == "__main__":
    main()
