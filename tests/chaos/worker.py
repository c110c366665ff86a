"""The worker process of the fault harness: the product's own, with a saboteur in it.

Time-outs are shorter than the product's, so that a lost worker is noticed within seconds.
"""

import asyncio
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.client import Client
from temporalio.common import RetryPolicy
from temporalio.worker.workflow_sandbox import SandboxRestrictions

from jeroboam import logging, settings, temporal, worker
from jeroboam.activities import reconcile, threads
from jeroboam.hooks.registry import HookRegistry
from jeroboam.workflows import limits
from tests.chaos.hook import ChaosHook
from tests.chaos.rules import RuleBook
from tests.chaos.saboteur import Saboteur
from tests.fakes import NoCloud

REAL_CLOUD = "CHAOS_CLOUD"
"""The environment variable of a process that works on a cloud that there is."""

LIMITS = {
    "RECORD_ATTEMPT": timedelta(seconds=5),
    "PLAN_ATTEMPT": timedelta(seconds=20),
    "STEP_HEARTBEAT": timedelta(seconds=4),
    "WAIT_HEARTBEAT": timedelta(seconds=4),
    "RETRY": RetryPolicy(
        initial_interval=timedelta(seconds=0.2),
        backoff_coefficient=2.0,
        maximum_interval=timedelta(seconds=2),
    ),
}

GRACE = timedelta(seconds=4)


def sabotage(directory: Path) -> None:
    """Put the harness's parts into this process's worker."""
    hasten()
    hooks = HookRegistry([ChaosHook(directory)])
    replace(HookRegistry, "load", lambda *_, **__: hooks)
    if REAL_CLOUD not in os.environ:
        replace(worker, "Cloud", lambda *_, **__: NoCloud())
    connect = temporal.connect_when_up

    async def connect_sabotaged(*arguments: Any) -> Client:
        client = await connect(*arguments)
        parts: dict[str, Any] = {**client.config()}
        return Client(**parts | {"interceptors": [Saboteur(RuleBook(directory))]})

    replace(temporal, "connect_when_up", connect_sabotaged)


def hasten() -> None:
    """Shorten what the product waits for; workflow code must see it too."""
    for name, value in LIMITS.items():
        replace(limits, name, value)
    replace(threads, "HEARTBEAT_SECONDS", 1.0)
    replace(reconcile, "GRACE", GRACE)
    SandboxRestrictions.default = SandboxRestrictions.default.with_passthrough_modules(
        limits.__name__
    )


def replace(where: object, name: str, part: object) -> None:
    """Put a part of the harness in the place of the product's.

    Raises:
        AttributeError: The product has no such part any more.
    """
    getattr(where, name)
    setattr(where, name, part)


def main() -> None:
    """Run a worker until it is killed."""
    sabotage(Path(os.environ["CHAOS_DIRECTORY"]))
    configured = settings.load()
    logging.configure(configured)
    asyncio.run(worker.run(configured))


if __name__ == "__main__":
    main()
