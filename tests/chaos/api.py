"""The API process of the fault harness: the product's own, with a made-up cloud around it.

While there is a file ``crash-api`` in the run's directory, the next accepted operation kills it
before its run is started.
"""

import asyncio
import os
import signal
from pathlib import Path

from jeroboam import logging, settings
from jeroboam.api.http import server
from jeroboam.api.http.caller import Credentials, Refusal
from jeroboam.hooks.registry import HookRegistry
from jeroboam.models import Identity, Operation
from jeroboam.workflows.client import OperationClient
from tests.chaos.hook import ChaosHook
from tests.chaos.worker import replace
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
    replace(HookRegistry, "load", lambda *_, **__: hooks)
    replace(server, "Cloud", lambda *_, **__: NoCloud())
    replace(server, "KeystoneAuthenticator", lambda _: Authenticator())
    replace(server, "OpenStackDirectory", lambda *_, **__: FakeCloud())
    replace(server, "KeystoneTrusts", lambda *_: FakeTrusts())
    replace(server, "OperationClient", FragileClient)
    configured = settings.load()
    logging.configure(configured)
    asyncio.run(server.serve(configured))


if __name__ == "__main__":
    main()
