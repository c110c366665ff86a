"""Runs the real engine in the test's process: real Temporal, real database, fake driver."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowHandle

from jeroboam import secret_access
from jeroboam.activities.dependencies import Dependencies
from jeroboam.activities.driver_files import FileCache
from jeroboam.drivers.fake.backend import FakeBackend
from jeroboam.drivers.fake.cluster import FakeCluster
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.errors import NotFoundError
from jeroboam.hooks.base import Hook
from jeroboam.hooks.kit import HookKit
from jeroboam.hooks.registry import HookRegistry
from jeroboam.models import (
    Cluster,
    ClusterSpec,
    Operation,
    OperationKind,
    Parameters,
    new_uuid,
)
from jeroboam.models.lifecycle import TRAITS
from jeroboam.models.wire import workflow_id
from jeroboam.settings import Settings
from jeroboam.store import Cipher, Store
from jeroboam.worker import build_workers
from jeroboam.workflows.client import OperationClient
from tests.fakes import AccountsInMemory, CloudOfTrusts, NoCloud
from tests.unit.specs import make_spec


@dataclass
class Engine:
    """One worker with its own queue, database and fake backend."""

    client: Client
    store: Store
    settings: Settings
    operations: OperationClient
    revoked: list[str]
    fakes: Path
    accounts: AccountsInMemory

    async def create(self, *, rollback: bool = False, **fields: Any) -> ClusterSpec:
        """Accept and start the creation of a cluster, as the API does."""
        spec, operation = self.new(rollback=rollback, **fields)
        await self.accept(spec, operation)
        await self.operations.start(operation)
        return spec

    def new(self, *, rollback: bool = False, **fields: Any) -> tuple[ClusterSpec, Operation]:
        labels = {"fake_create_seconds": "0.2", "fake_delete_seconds": "0.1"}
        spec = make_spec(**{**fields, "labels": {**labels, **fields.get("labels", {})}})
        return spec, self.operation(spec.cluster, OperationKind.CREATE, rollback=rollback)

    async def accept(self, spec: ClusterSpec, operation: Operation) -> None:
        await self.store.templates.add(spec.template)
        await self.store.clusters.create(spec, operation)

    async def ready(self, **fields: Any) -> ClusterSpec:
        """Return a cluster that is complete, as it is recorded."""
        spec = await self.create(**fields)
        await self.settled(spec)
        return await self.spec(spec)

    async def ask(
        self,
        spec: ClusterSpec,
        kind: OperationKind,
        *,
        rollback: bool | None = None,
        **parameters: Any,
    ) -> Operation:
        """Accept and start an operation, as the API does."""
        rolls_back = TRAITS[kind].rolls_back if rollback is None else rollback
        operation = self.operation(
            spec.cluster, kind, rollback=rolls_back, parameters=Parameters(**parameters)
        )
        await self.store.operations.accept(operation)
        await self.operations.start(operation)
        return operation

    async def ended(self, operation: Operation, seconds: float = 30) -> Operation:
        """Wait until an operation has ended; return its record."""
        async with asyncio.timeout(seconds):
            while True:
                found = await self.store.operations.get(operation.uuid)
                if not found.state.active:
                    return found
                await asyncio.sleep(0.05)

    async def at_step(self, operation: Operation, words: str, seconds: float = 30) -> Operation:
        """Wait until a step is at work whose name holds some words."""
        async with asyncio.timeout(seconds):
            while True:
                found = await self.store.operations.get(operation.uuid)
                if words in (found.current_step or ""):
                    return found
                assert found.state.active, found
                await asyncio.sleep(0.02)

    async def spec(self, spec: ClusterSpec) -> ClusterSpec:
        """Return a cluster as it is recorded now."""
        return await self.store.clusters.spec(spec.cluster.uuid)

    def backend(self, spec: ClusterSpec) -> FakeCluster:
        """Return what the backend itself knows of a cluster."""
        return FakeBackend(self.fakes).read(spec.cluster.uuid)

    def operation(
        self,
        cluster: Cluster,
        kind: OperationKind,
        *,
        rollback: bool = False,
        parameters: Parameters | None = None,
    ) -> Operation:
        return Operation(
            parameters=parameters or Parameters(),
            kind=kind,
            cluster_id=cluster.uuid,
            cluster_name=cluster.name,
            project_id=cluster.project_id,
            user_id=cluster.user_id,
            request_id=f"req-{new_uuid()}",
            rollback=rollback,
        )

    async def delete(self, cluster: Cluster) -> Operation:
        operation = self.operation(cluster, OperationKind.DELETE)
        await self.operations.delete(cluster, operation)
        return operation

    def run(self, spec: ClusterSpec) -> WorkflowHandle[Any, Any]:
        return self.client.get_workflow_handle(workflow_id(spec.cluster.uuid))

    async def cluster(self, spec: ClusterSpec) -> Cluster:
        return (await self.store.clusters.spec(spec.cluster.uuid)).cluster

    async def until(
        self, spec: ClusterSpec, condition: Callable[[Cluster], bool], seconds: float = 30
    ) -> Cluster:
        """Wait until the cluster's row is as wished."""
        async with asyncio.timeout(seconds):
            while True:
                cluster = await self.cluster(spec)
                if condition(cluster):
                    return cluster
                await asyncio.sleep(0.05)

    async def settled(self, spec: ClusterSpec, seconds: float = 30) -> Cluster:
        return await self.until(spec, lambda cluster: not cluster.status.in_progress, seconds)

    async def gone(self, spec: ClusterSpec, seconds: float = 30) -> None:
        """Wait until the cluster's row is removed."""
        async with asyncio.timeout(seconds):
            while True:
                try:
                    await self.cluster(spec)
                except NotFoundError:
                    return
                await asyncio.sleep(0.05)


@asynccontextmanager
async def running_engine(  # noqa: PLR0913 - each test varies another one
    client: Client,
    directory: Path,
    *,
    hooks: tuple[Hook, ...] = (),
    workers: bool = True,
    queue: str | None = None,
    kit: HookKit | None = None,
    driver: Callable[[Path], FakeDriver] = FakeDriver,
    drivers: DriverRegistry | None = None,
    trusts: set[str] | None = None,
) -> AsyncIterator[Engine]:
    """Yield an engine; it stops when the block ends.

    Args:
        trusts: Those with which one can log in; without it, all are refused.
    """
    kit = kit or HookKit(registry=HookRegistry(hooks))
    settings = Settings(
        state_directory=directory,
        task_queue=queue or f"queue-{new_uuid()}",
        poll_interval_seconds=0.1,
        shutdown_grace_seconds=5,
    )
    cipher = Cipher.from_settings(settings)
    store = await Store.open(
        settings.resolved_database_url,
        cipher=cipher,
        hooks_cipher=cipher,
        secret_stores=secret_access.stores(settings, cipher),
        migrate=True,
    )
    fakes = directory / "fake"
    accounts = AccountsInMemory(trusts)
    revoked: list[str] = []

    def revoke(_: str, trust: str) -> None:
        revoked.append(trust)

    def retire(_: str, trust: str) -> bool:
        revoke(_, trust)
        return True

    dependencies = Dependencies(
        store=store,
        drivers=drivers or DriverRegistry([DriverEntry(driver(fakes))]),
        hooks=kit.registry,
        cloud=lambda _: NoCloud() if trusts is None else CloudOfTrusts(trusts),
        accounts=lambda _: accounts,
        revoke_trust=revoke,
        retire_trust=retire,
        outbound=kit.outbound,
        callbacks=kit.callbacks,
        files=FileCache(store, directory / "driver-files"),
    )
    operations = OperationClient(client, store, settings)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(store.close)
        if workers:
            for worker in build_workers(client, store, settings, dependencies):
                await stack.enter_async_context(worker)
        yield Engine(client, store, settings, operations, revoked, fakes, accounts)
