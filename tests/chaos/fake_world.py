"""The world of the fake driver: a backend of files, which fails when labels say so."""

import random
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from jeroboam.drivers.fake.cluster import FakeCluster
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.models import Cluster, ClusterSpec, OperationKind, Parameters, Plan
from tests.chaos import fake_oracle, faults, wishes
from tests.chaos.backend_faults import BackendFaults
from tests.chaos.faults import Fault
from tests.chaos.oracle import Case
from tests.chaos.rules import Act
from tests.chaos.tenant import Tenant
from tests.chaos.world import Component, Pause

VERSIONS = 12
CUT_SECONDS = (0.5, 3.0)

PACE = {
    "fake_create_seconds": "0.6",
    "fake_delete_seconds": "0.4",
    "fake_update_seconds": "0.4",
    "fake_upgrade_seconds": "0.4",
    "fake_reboot_seconds": "0.3",
    "fake_rebuild_seconds": "0.3",
    "fake_group_seconds": "0.4",
}


class Admin(httpx.Auth):
    """The made-up user of the made-up Keystone."""

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response]:
        """Add the token."""
        request.headers["X-Auth-Token"] = "admin-token"
        yield request


@dataclass
class Backend:
    """The network towards the pretended backend."""

    directory: Path

    def start(self) -> None:
        """Let it answer again."""
        (self.directory / "unreachable").unlink(missing_ok=True)

    def kill(self) -> None:
        """Cut it off."""
        self.directory.mkdir(exist_ok=True)
        (self.directory / "unreachable").touch()


@dataclass
class FakeWorld:
    """The pretended backend of a run.

    Args:
        directory: Of the run.
    """

    directory: Path
    auth: httpx.Auth = field(default_factory=Admin)
    crashes: Sequence[Act] = faults.COMPONENTS
    end_seconds: float = 300.0

    def __post_init__(self) -> None:
        self._files = self.directory / "fake"
        self._faults = BackendFaults(self._files)
        self.driver = FakeDriver(self._files)
        self.components: Mapping[str, Component] = {Act.BACKEND: Backend(self._files)}
        self.pauses: Mapping[str, Pause] = {Act.BACKEND: CUT_SECONDS}
        self.settings: Mapping[str, str] = {"JEROBOAM_POLL_INTERVAL_SECONDS": "0.2"}

    async def templates(self, tenant: Tenant) -> list[str]:
        """Make templates; return their uuids in the order of their versions."""
        made = []
        for minor in range(30, 30 + VERSIONS):
            labels = PACE | {"fake_version": f"v1.{minor}.0"}
            made.append(await tenant.template(f"v{minor}", labels, master_lb_enabled=True))
        return made

    def cluster(self, chance: random.Random) -> Mapping[str, Any]:
        """Return what is asked for a new cluster."""
        return {"master_count": chance.choice((1, 1, 3)), "node_count": chance.randint(1, 3)}

    def wish(
        self, chance: random.Random, spec: ClusterSpec, templates: Sequence[str]
    ) -> tuple[OperationKind, Parameters]:
        """Return an operation that the cluster can take."""
        return wishes.wish(chance, spec, templates)

    def draw(self, chance: random.Random, plan: Plan, crashes: Sequence[Act]) -> Fault:
        """Return a fault that fits an operation."""
        return faults.draw(chance, plan, crashes=crashes)

    def set_fault(self, cluster: Cluster, labels: Mapping[str, str]) -> None:
        """Set labels of the fake driver."""
        self._faults.set(cluster.uuid, labels)

    def clear_fault(self, cluster: Cluster) -> None:
        """Let the cluster's own labels hold again."""
        self._faults.clear(cluster.uuid)

    async def known(self, cluster: Cluster) -> FakeCluster:
        """Return the backend's file of a cluster."""
        return self._faults.known(cluster.uuid)

    def judge(self, case: Case[Any]) -> Iterator[str]:
        """Compare the record with the file."""
        return fake_oracle.judge(case)

    async def unaccounted(self, left: Sequence[Cluster]) -> list[str]:
        """Return files of clusters that are gone."""
        files = {path.stem for path in self._files.glob("*.json")}
        return [f"orphaned: {uuid} is only on the backend" for uuid in files - _ids(left)]


def _ids(clusters: Sequence[Cluster]) -> set[str]:
    return {one.uuid for one in clusters}


@contextmanager
def opened(directory: Path) -> Iterator[FakeWorld]:
    """Yield the world; it has no processes of its own."""
    yield FakeWorld(directory)
