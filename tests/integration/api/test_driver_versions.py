"""A cluster stays with the version of its driver that built it, until it is upgraded."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiosqlite
import pytest
from temporalio.client import Client

from jeroboam.drivers.fake.backend import FakeBackend
from jeroboam.drivers.registry import DriverRegistry
from jeroboam.models import new_uuid
from jeroboam.settings import Settings
from tests.dropins import put_driver
from tests.integration.api.conftest import Service, error_of, serving
from tests.integration.api.test_with_engine import QUICK, ended
from tests.integration.engine import running_engine

NAME = "pretend_v1"


@dataclass
class Deployment:
    """API and worker as they run after one start, and what the driver's backend holds."""

    service: Service
    fakes: Path

    async def created(self, name: str, template: str) -> str:
        body = {"name": name, "cluster_template_id": template, "node_count": 1}
        response = await self.service.call("POST", "/v1/clusters", json=body)
        assert (await ended(self.service, response))["state"] == "SUCCEEDED"
        return str(response.json()["uuid"])

    async def act(self, cluster: str, action: str, state: str = "SUCCEEDED", **body: object) -> str:
        record = await ended(self.service, await self.service.act(cluster, action, json=body))
        assert record["state"] == state, record
        return str(record["changes"])

    def setups(self, cluster: str) -> dict[str, str]:
        """Return what each node was set up with, asked of the backend itself."""
        return {
            node.name.partition("-")[2]: node.setup
            for node in FakeBackend(self.fakes).read(cluster).nodes()
        }

    async def version(self, cluster: str) -> str:
        spec = await self.service.store.clusters.spec(cluster)
        return spec.cluster.driver_version


Start = Callable[[], AbstractAsyncContextManager[Deployment]]


@pytest.fixture
def drivers_directory(tmp_path: Path) -> Path:
    return tmp_path / "drivers"


@pytest.fixture
def start(temporal_client: Client, tmp_path: Path, drivers_directory: Path) -> Start:
    """Return what starts API and worker anew, with the drivers that are there by then."""

    @asynccontextmanager
    async def start() -> AsyncIterator[Deployment]:
        drivers = DriverRegistry.load(Settings(drivers_directory=drivers_directory))
        async with (
            running_engine(
                temporal_client, tmp_path, drivers=drivers, queue=f"queue-{new_uuid()}"
            ) as engine,
            serving(engine.settings, engine.store, engine.operations, drivers) as service,
        ):
            yield Deployment(service, tmp_path / "fake")

    return start


@pytest.fixture
def install(drivers_directory: Path, tmp_path: Path) -> Callable[[str, str], None]:
    def install(version: str, setup: str) -> None:
        put_driver(
            drivers_directory,
            NAME,
            version=version,
            setup=setup,
            os_name="fake",
            clusters=tmp_path / "fake",
        )

    return install


async def template(service: Service, name: str, **labels: str) -> str:
    created = await service.template(name=name, driver=NAME, labels=QUICK | labels)
    return str(created["uuid"])


async def test_update_of_a_driver_changes_no_living_cluster(
    start: Start, install: Callable[[str, str], None]
) -> None:
    """Old clusters keep their files in all that is done to them; new ones get the new files."""
    install("1.0.0", "old")
    async with start() as before:
        small = await template(before.service, "small")
        kept = await before.created("kept", small)
        doomed = await before.created("doomed", small)
        assert before.setups(kept) == {"default-master-0": "old", "default-worker-0": "old"}

    install("1.1.0", "new")
    async with start() as after:
        await after.act(kept, "resize", node_count=2)
        group = {"name": "extra", "node_count": 1}
        path = f"/v1/clusters/{kept}/nodegroups"
        await ended(after.service, await after.service.call("POST", path, json=group))
        await after.act(kept, "rebuild", node_groups=["default-master"])
        assert set(after.setups(kept).values()) == {"old"}
        assert len(after.setups(kept)) == 4
        assert await after.version(kept) == "1.0.0"

        fresh = await after.created("fresh", small)
        assert set(after.setups(fresh).values()) == {"new"}
        assert await after.version(fresh) == "1.1.0"

        await ended(after.service, await after.service.call("DELETE", f"/v1/clusters/{doomed}"))
        assert after.setups(doomed) == {}

        changes = await after.act(kept, "upgrade", cluster_template="small")
        assert "1.0.0 -> 1.1.0" in changes
        assert set(after.setups(kept).values()) == {"new"}
        assert await after.version(kept) == "1.1.0"


async def test_upgrade_that_fails_leads_back_to_the_old_files(
    start: Start, install: Callable[[str, str], None]
) -> None:
    """The way back uses what built the cluster; a retry goes on to the version it began with."""
    install("1.0.0", "old")
    async with start() as before:
        small = await template(
            before.service,
            "small",
            fake_fail="upgrade",
            fake_fail_share="0.5",
            fake_fail_times="1",
        )
        kept = await before.created("kept", small)

    install("1.1.0", "new")
    async with start() as after:
        await after.act(kept, "upgrade", "FAILED", cluster_template="small")
        assert set(after.setups(kept).values()) == {"old"}
        assert await after.version(kept) == "1.0.0"
        (record, _) = (await after.service.call("GET", f"/v1/clusters/{kept}/operations")).json()[
            "operations"
        ]

    install("1.2.0", "newest")
    async with start() as last:
        path = f"/v1/operations/{record['uuid']}/retry"
        retried = await ended(last.service, await last.service.call("POST", path))
        assert retried["state"] == "SUCCEEDED"
        assert set(last.setups(kept).values()) == {"new"}
        assert await last.version(kept) == "1.1.0"


async def test_another_major_version_does_not_touch_a_cluster(
    start: Start, drivers_directory: Path, tmp_path: Path
) -> None:
    """A driver whose major version changed under its name refuses the cluster, but for a delete."""
    clusters = tmp_path / "fake"
    put_driver(drivers_directory, "pretend", version="1.4.0", clusters=clusters)
    async with start() as before:
        made = await before.service.template(name="small", driver="pretend", labels=QUICK)
        kept = await before.created("kept", made["uuid"])
    put_driver(drivers_directory, "pretend", version="2.0.0", clusters=clusters)
    async with start() as after:
        response = await after.service.act(kept, "resize", json={"node_count": 2})
        assert response.status_code == 409
        assert "1.4.0" in error_of(response)["detail"]
        assert "2.0.0" in error_of(response)["detail"]
        removed = await after.service.call("DELETE", f"/v1/clusters/{kept}")
        assert (await ended(after.service, removed))["state"] == "SUCCEEDED"


async def test_lost_files_stop_a_change_and_no_delete(
    start: Start, install: Callable[[str, str], None], tmp_path: Path
) -> None:
    """Without its files a cluster is not changed by what happens to be installed."""
    install("1.0.0", "old")
    async with start() as running:
        kept = await running.created("kept", await template(running.service, "small"))
    (folder,) = (tmp_path / "driver-files").iterdir()
    (folder / "node.yaml").write_text("setup: spoilt\n")

    async with start() as running:
        await running.act(kept, "resize", node_count=2)
        assert set(running.setups(kept).values()) == {"old"}, "the cache was not verified"

    (folder / "node.yaml").write_text("setup: spoilt\n")
    async with aiosqlite.connect(tmp_path / "jeroboam.sqlite") as database:
        await database.execute("DELETE FROM driver_files")
        await database.commit()
    async with start() as running:
        record = await ended(
            running.service, await running.service.act(kept, "resize", json={"node_count": 3})
        )
        assert record["state"] == "FAILED"
        assert "are not in the database" in record["reason"]
        removed = await running.service.call("DELETE", f"/v1/clusters/{kept}")
        assert (await ended(running.service, removed))["state"] == "SUCCEEDED"
