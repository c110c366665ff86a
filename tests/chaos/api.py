"""The API process of the fault harness: the product's own, with a made-up cloud around it.

While there is a file for a cluster (``crash_mark``), the next accepted operation on that cluster
kills it before its run is started.
"""

import asyncio
import os
import signal
from pathlib import Path

from jeroboam import logging, settings
from jeroboam.api.http import server
from jeroboam.api.http.caller import Credentials, Refusal
from jeroboam.hooks.registry import HookRegistry
from jeroboam.models import Cluster, Identity, Operation
from jeroboam.workflows.client import OperationClient
from tests.chaos.hook import ChaosHook
from tests.chaos.rules import crash_mark
from tests.chaos.worker import REAL_CLOUD, replace
from tests.fakes import NoCloud
from tests.integration.api.cloud import FakeCloud, FakeTrusts, authenticate


class Authenticator:
    """Knows the people of the API's tests."""

    async def __call__(self, credentials: Credentials) -> Identity | Refusal:
        return await authenticate(credentials)

    def close(self) -> None:
        """Have nothing to close."""


class FragileClient(OperationClient):
    """Dies between the promise and its fulfilment, when it is told to."""

    async def _start_only(self, cluster: Cluster, operation: Operation) -> None:
        _die_if_told(cluster)
        await super()._start_only(cluster, operation)

    async def _supersede_or_start(self, cluster: Cluster, operation: Operation) -> None:
        _die_if_told(cluster)
        await super()._supersede_or_start(cluster, operation)


def _die_if_told(cluster: Cluster) -> None:
    mark = crash_mark(Path(os.environ["CHAOS_DIRECTORY"]), cluster.name)
    if mark.exists():
        mark.unlink(missing_ok=True)
        os.kill(os.getpid(), signal.SIGKILL)


def pretend() -> None:
    """Put a made-up cloud in the place of the real one."""
    replace(server, "Cloud", lambda *_, **__: NoCloud())
    replace(server, "KeystoneAuthenticator", lambda _: Authenticator())
    replace(server, "OpenStackDirectory", lambda *_, **__: FakeCloud())
    replace(server, "KeystoneTrusts", lambda *_: FakeTrusts())


def main() -> None:
    """Serve until it is killed."""
    hooks = HookRegistry([ChaosHook(Path(os.environ["CHAOS_DIRECTORY"]))])
    replace(HookRegistry, "load", lambda *_, **__: hooks)
    replace(server, "OperationClient", FragileClient)
    if REAL_CLOUD not in os.environ:
        pretend()
    configured = settings.load()
    logging.configure(configured)
    asyncio.run(server.serve(configured))


if __name__ == "__main__":
    main()
