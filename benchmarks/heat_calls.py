"""Calls to Heat while many clusters are being created, counted on the wire.

The clusters are real stacks of a real Heat; the driver is one template with a resource that takes
its time. The baseline is what polling each cluster by itself would cost: one call per cluster and
interval.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch
from urllib.parse import urlsplit
from uuid import uuid4

import requests
from keystoneauth1.identity import v3
from keystoneauth1.session import Session
from processes import temporal_server

from devcloud import Devcloud
from jeroboam.accounts import Accounts
from jeroboam.activities.dependencies import Dependencies
from jeroboam.cloud import Cloud
from jeroboam.drivers.base import Provides
from jeroboam.drivers.heat.driver import HeatDriver
from jeroboam.drivers.heat.template_definition import TemplateDefinition
from jeroboam.drivers.nodes.files import Files
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.hooks.registry import HookRegistry
from jeroboam.models import (
    Cluster,
    ClusterSpec,
    ClusterTemplate,
    Identity,
    NodeGroup,
    Operation,
    OperationKind,
)
from jeroboam.models.cluster import MASTER, WORKER
from jeroboam.settings import Settings
from jeroboam.store import Cipher, Store
from jeroboam.worker import build_workers
from jeroboam.workflows.client import OperationClient

CHECKOUT = Path(__file__).parent.parent
PORT_BASE = 26000

TEMPLATE = """
heat_template_version: 2021-04-16
resources:
  slow:
    type: OS::Heat::TestResource
    properties: {{value: done, action_wait_secs: {{create: {seconds}}}}}
"""


def driver_of(template: Path) -> HeatDriver:
    """Return a driver that is nothing but a template."""

    class SlowDriver(HeatDriver):
        name: ClassVar[str] = "slow"
        version: ClassVar[str] = "1.0.0"
        definition = TemplateDefinition(
            files=Files((template.parent,)), template=template.name, parameters=()
        )

        @property
        def provides(self) -> Sequence[Provides]:
            return ()

        def validate(self, spec: ClusterSpec) -> None:
            """Accept all."""

    return SlowDriver()


@contextmanager
def counting(port: int) -> Iterator[Counter[str]]:
    """Count this process's requests to a port, by method and kind of path."""
    calls: Counter[str] = Counter()
    send = requests.Session.send

    def counted(self: requests.Session, request: requests.PreparedRequest, **options: Any) -> Any:
        url = urlsplit(str(request.url))
        if url.port == port:
            parts = url.path.strip("/").split("/")[2:]
            calls[f"{request.method} /{parts[0] if parts else ''}{'/…' * (len(parts) > 1)}"] += 1
        return send(self, request, **options)

    with patch.object(requests.Session, "send", counted):
        yield calls


def new_cluster(template: ClusterTemplate, trust: str) -> tuple[ClusterSpec, Operation]:
    """Return a cluster of the slow driver."""
    owner = {"project_id": template.project_id, "user_id": template.user_id}
    cluster = Cluster(
        name=f"slow-{uuid4().hex[:8]}",
        cluster_template_id=template.uuid,
        driver="slow",
        driver_version="1.0.0",
        cloud="jeroboam",
        trust_id=trust,
        **owner,
    )
    groups = tuple(
        NodeGroup(
            name=f"default-{role}",
            cluster_id=cluster.uuid,
            role=role,
            is_default=True,
            project_id=template.project_id,
        )
        for role in (MASTER, WORKER)
    )
    operation = Operation(
        kind=OperationKind.CREATE,
        cluster_id=cluster.uuid,
        cluster_name=cluster.name,
        request_id="req-bench",
        **owner,
    )
    return ClusterSpec(cluster=cluster, template=template, node_groups=groups), operation


async def bench(count: int, minutes: float, interval: float, home: Path, venv: Path) -> None:
    """Create the clusters, wait for all, print the calls."""
    devcloud = Devcloud(home, port_base=PORT_BASE, services="quick", venv=venv)
    devcloud.start()
    os.environ["OS_CLIENT_CONFIG_FILE"] = str(devcloud.clouds_yaml)
    async with AsyncExitStack() as stack:
        stack.callback(devcloud.stop)
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        client, _, address = await stack.enter_async_context(temporal_server(directory))
        settings = Settings(
            state_directory=directory, temporal_address=address, poll_interval_seconds=interval
        )
        store = await Store.open(
            settings.resolved_database_url, cipher=Cipher.from_settings(settings), migrate=True
        )
        stack.push_async_callback(store.close)
        template_file = directory / "slow.yaml"
        template_file.write_text(TEMPLATE.format(seconds=int(60 * minutes)))
        cloud = lru_cache(partial(Cloud, timeout_seconds=60))
        dependencies = Dependencies(
            store=store,
            drivers=DriverRegistry([DriverEntry(driver_of(template_file))]),
            hooks=HookRegistry([]),
            cloud=cloud,
            accounts=lambda name: Accounts(cloud(name), ""),
            revoke_trust=lambda name, trust: cloud(name).delete_trust(trust),
        )
        for worker in build_workers(client, store, settings, dependencies):
            await stack.enter_async_context(worker)
        operations = OperationClient(client, store, settings)
        template, trusts = await asyncio.to_thread(_tenant, devcloud, cloud("jeroboam"), count)
        await store.templates.add(template)
        port = urlsplit(devcloud.url("heat")).port or 0
        calls = stack.enter_context(counting(port))
        started = time.monotonic()
        clusters = [new_cluster(template, trust) for trust in trusts]
        for spec, operation in clusters:
            await store.clusters.create(spec, operation)
            await operations.start(operation)
        handles = [
            client.get_workflow_handle(f"cluster/{spec.cluster.uuid}") for spec, _ in clusters
        ]
        await asyncio.gather(*(handle.result() for handle in handles))
        report(calls, count, time.monotonic() - started, interval)


def _tenant(devcloud: Devcloud, cloud: Cloud, count: int) -> tuple[ClusterTemplate, list[str]]:
    """Return a template of a tenant, and a trust of that tenant for each cluster."""
    login: dict[str, Any] = {**devcloud.credentials("demo")}
    auth = v3.Password(**login)
    access = auth.get_access(Session(timeout=30))
    identity = Identity(
        user_id=str(access.user_id),
        project_id=str(access.project_id),
        roles=tuple(access.role_names or ()),
    )
    template = ClusterTemplate(
        name="bench",
        coe="kubernetes",
        image_id="none",
        project_id=identity.project_id,
        user_id=identity.user_id,
    )
    token = str(access.auth_token)
    return template, [cloud.create_trust(token, identity) for _ in range(count)]


def report(calls: Counter[str], count: int, seconds: float, interval: float) -> None:
    """Print the calls by kind, beside the baseline."""
    intervals = seconds / interval
    print(f"{count} clusters in {seconds:.0f} s, {intervals:.0f} intervals of {interval:g} s")
    for kind, number in calls.most_common():
        print(f"  {kind:32}{number:6}   {number / intervals:6.2f} an interval")
    lists = calls["GET /stacks"]
    print(f"list calls an interval, for all clusters: {lists / intervals:.2f} (target: at most 1)")
    print(f"calls for each cluster, all kinds: {calls.total() / count:.1f}")
    print(f"baseline, each cluster polled by itself: {intervals:.0f} calls for each cluster")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--interval", type=float, default=10)
    parser.add_argument("--home", type=Path, default=CHECKOUT / ".devcloud-bench")
    parser.add_argument("--venv", type=Path, default=CHECKOUT / ".devcloud" / "venv")
    options = parser.parse_args()
    asyncio.run(bench(options.count, options.minutes, options.interval, options.home, options.venv))
