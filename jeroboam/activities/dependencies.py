"""What activities are made of: built once by the worker, injected everywhere."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from jeroboam import certificates
from jeroboam.activities.driver_files import FileCache
from jeroboam.drivers.base import CloudAccess, CloudAccount, ClusterSecrets, DriverContext
from jeroboam.drivers.registry import DriverRegistry
from jeroboam.hooks.base import Outbound
from jeroboam.hooks.callbacks import Callbacks
from jeroboam.hooks.kit import HookKit
from jeroboam.hooks.registry import HookRegistry
from jeroboam.models import ClusterSpec
from jeroboam.models.wire import StepInput
from jeroboam.store import Store

SECRETS_TIMEOUT_SECONDS = 30


class Accounts(Protocol):
    """Makes and removes users of programs in clusters; ``accounts.Accounts`` is the real one."""

    def make(self, name: str, password: str, trust_id: str) -> CloudAccount:
        """Make a user to whom a cluster's trust is delegated."""

    def remove(self, cluster_id: str, *, keep: str | None = None) -> None:
        """Remove the users of a cluster but one."""


@dataclass(frozen=True)
class Dependencies:
    """The store, the plug-ins and the clouds of one worker process.

    Args:
        cloud: Returns the access to a cloud by its name in ``clouds.yaml``; cached.
        accounts: Returns what makes users for clusters in a cloud.
        revoke_trust: Removes a cluster's trust from a cloud; none is success.
        retire_trust: Removes a trust that a cluster uses no more, unless something that the cloud
            delegated from it is still in use; returns whether it is gone.
        outbound: The way out for hooks.
        callbacks: Makes the URLs of their late answers.
        files: Where drivers find what clusters were built from.
    """

    store: Store
    drivers: DriverRegistry
    hooks: HookRegistry
    cloud: Callable[[str], CloudAccess]
    accounts: Callable[[str], Accounts]
    revoke_trust: Callable[[str, str], None]
    retire_trust: Callable[[str, str], bool] = field(default=lambda _cloud, _trust: False)
    outbound: Outbound = field(default_factory=lambda: HookKit().outbound)
    callbacks: Callbacks = field(default_factory=lambda: HookKit().callbacks)
    files: FileCache | None = None


def driver_context(
    dependencies: Dependencies, step: StepInput, spec: ClusterSpec, folder: Path | None = None
) -> DriverContext:
    """Return the surroundings of a step's driver call; call it on the event loop."""
    return context_of(dependencies, spec, step.idempotency_key, folder)


def context_of(
    dependencies: Dependencies, spec: ClusterSpec, key: str, folder: Path | None = None
) -> DriverContext:
    """Return the surroundings of a driver call; call it on the event loop.

    Args:
        key: The call's idempotency key.
        folder: Where the files are from which the cluster is built.
    """
    loop = asyncio.get_running_loop()

    def read_secrets() -> ClusterSecrets:
        reading = dependencies.store.secrets.get(spec.cluster.uuid)
        stored = asyncio.run_coroutine_threadsafe(reading, loop).result(SECRETS_TIMEOUT_SECONDS)
        return certificates.from_mapping(stored)

    return DriverContext(
        idempotency_key=key,
        cloud=dependencies.cloud(spec.cluster.cloud),
        read_secrets=read_secrets,
        folder=folder,
    )
