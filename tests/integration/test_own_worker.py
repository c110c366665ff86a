"""A driver in a worker of its own, with an environment of its own, on real Temporal.

The driver needs version 2 of a library of which the other processes have version 1.
"""

import asyncio
import os
import socket
import subprocess
import sys
import sysconfig
import venv
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from temporalio.client import Client

from jeroboam import own_worker
from jeroboam.drivers.registry import DriverRegistry
from jeroboam.drivers_elsewhere import DriversElsewhere
from jeroboam.errors import ConfigurationError, DriverContractError
from jeroboam.models.monitoring_wire import MONITOR_WORKFLOW
from jeroboam.settings import Settings
from jeroboam.store import Cipher
from jeroboam.workflows import limits
from jeroboam.workflows.coe_client import CoeClient
from tests.conftest import TemporalServer
from tests.integration.api.conftest import Service, error_of, serving
from tests.integration.api.test_with_engine import QUICK, ended
from tests.integration.engine import Engine, running_engine

ROOT = Path(__file__).parents[2]
NAME = "tape"

DRIVER = '''"""A driver that cannot be imported with the library's version 1."""

import measure
from measure import length

from jeroboam.drivers.base import Provides, SupportsDrain, SupportsMonitor
from jeroboam.drivers.coe_api import SupportsCoeApi
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.errors import InvalidRequestError
from jeroboam.models import Health
from jeroboam.models.monitoring import Observation
from tape_driver.api import API


class TapeDriver(FakeDriver, SupportsMonitor, SupportsDrain, SupportsCoeApi):
    """Pretends, and measures a label."""

    name = "tape"
    version = "1.0.0"
    provides = (Provides(server_type="vm", os="fake", coe="kubernetes"),)
    coe_api = API

    def validate(self, spec):
        """Refuse what is too long."""
        super().validate(spec)
        self.check(spec.cluster.labels)

    def validate_template(self, template):
        """Refuse what is too long."""
        self.check(template.labels)

    def monitor(self, context, spec):
        """Tell of the library."""
        reasons = {"library": measure.VERSION}
        return Observation(health=Health(status="HEALTHY", reasons=reasons))

    def choose_removals(self, context, spec, group, count, named):
        """Take the first ones, which nobody else would."""
        return group.nodes[:count]

    def drain_nodes(self, context, spec, nodes):
        """Leave nothing."""
        return {}

    def undrain_nodes(self, context, spec, nodes):
        """Have closed nothing."""

    def check(self, labels):
        """Measure with the library."""
        if length(labels.get("tape", "")) > 3:
            raise InvalidRequestError(f"Label 'tape' is too long, says {measure.VERSION}.")
'''


API = '''"""Routes of that driver."""

from pydantic import Field
from measure import VERSION, length

from jeroboam.drivers.coe_api import Access, CoeApi, Route, Verb
from jeroboam.models import Model


class Piece(Model):
    text: str
    scale: int = 1


class Query(Model):
    text: str = Field(max_length=10)
    times: int = Field(default=1, ge=1)


class Pieces(Model):
    pieces: tuple[Piece, ...]


class Measured(Model):
    length: int
    library: str
    secret: str


def measured(call, total):
    key = call.context.read_secrets().kubernetes.private_key
    return Measured(length=total, library=VERSION, secret=key[:10])


def one(call, query):
    return measured(call, length(query.text) * query.times)


def several(call, wish):
    return measured(call, sum(length(one.text) * one.scale for one in wish.pieces))


API = CoeApi(
    "tape",
    (
        Route(Verb.GET, "length", "read", Access.READER, "Measure.", Measured, one, Query),
        Route(Verb.POST, "{unit}/sums", "sum", Access.MEMBER, "Add.", Measured, several, Pieces),
    ),
)
'''


def put_library(folder: Path, version: int) -> None:
    """Write the library; only its version 2 can measure a length."""
    function = "def length(text):\n    return len(text)\n" if version > 1 else ""
    (folder / "measure.py").write_text(f'VERSION = "version {version}"\n{function}')


def put_package(folder: Path) -> None:
    """Write the driver as an installed package."""
    package, metadata = folder / "tape_driver", folder / "tape_driver-3.1.dist-info"
    package.mkdir()
    metadata.mkdir()
    (package / "__init__.py").write_text("")
    (package / "driver.py").write_text(DRIVER)
    (package / "api.py").write_text(API)
    (package / "version.py").write_text('Driver = "tape"\nversion = "1.0.0"\n')
    (metadata / "METADATA").write_text("Name: tape-driver\nVersion: 3.1\n")
    lines = "[jeroboam.drivers]\ntape = tape_driver.driver:TapeDriver\n"
    (metadata / "entry_points.txt").write_text(lines)


@dataclass
class Environment:
    """A virtual environment with the driver and its library, and Jeroboam from this one."""

    folder: Path
    log: Path
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def build(self) -> None:
        venv.create(self.folder, with_pip=False)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        packages = self.folder / "lib" / version / "site-packages"
        put_library(packages, 2)
        put_package(packages)
        (packages / "jeroboam.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT}\n")

    @contextmanager
    def worker(self) -> Iterator[subprocess.Popen[bytes]]:
        """Run the driver's worker until the block ends."""
        program = "from jeroboam.cli.main import main; main()"
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [str(self.python), "-c", program, "worker", "--driver", NAME],
                env={**os.environ, **self.settings},
                stdout=log,
                stderr=log,
            )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


@dataclass
class Product:
    """API and general worker in this process; the driver's worker in another."""

    service: Service
    engine: Engine
    elsewhere: DriversElsewhere
    environment: Environment

    async def driver(self) -> dict[str, Any]:
        """Return what the API says of the driver now."""
        await self.elsewhere.refresh()
        response = await self.service.call("GET", f"/v1/drivers/{NAME}", token="admin-token")
        found: dict[str, Any] = response.json()
        return found

    async def until_there(self, process: "subprocess.Popen[bytes]") -> dict[str, Any]:
        async with asyncio.timeout(60):
            while (found := await self.driver())["state"] != "enabled":
                assert process.poll() is None, self.environment.log.read_text()
                await asyncio.sleep(0.2)
        return found


@pytest.fixture
async def product(
    temporal_server: TemporalServer,
    temporal_client: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Product]:
    library = tmp_path / "library"
    library.mkdir()
    put_library(library, 1)
    put_package(library)
    monkeypatch.syspath_prepend(library)
    chosen: dict[str, Any] = {"drivers_directory": tmp_path / "none", "own_worker_drivers": (NAME,)}
    registry = DriverRegistry.load(Settings(**chosen))
    async with running_engine(temporal_client, tmp_path / "state", drivers=registry) as engine:
        settings = engine.settings.model_copy(update=chosen)
        shared = Cipher.for_hooks(settings)
        elsewhere = DriversElsewhere(temporal_client, engine.store, settings, registry, shared)
        environment = Environment(tmp_path / "venv", tmp_path / "worker.log")
        environment.build()
        clouds = {"jeroboam": {"auth": {"auth_url": "http://127.0.0.1:1", "username": "nobody"}}}
        (tmp_path / "clouds.yaml").write_text(yaml.safe_dump({"clouds": clouds}))
        environment.settings = {
            "OS_CLIENT_CONFIG_FILE": str(tmp_path / "clouds.yaml"),
            "JEROBOAM_STATE_DIRECTORY": str(settings.state_directory),
            "JEROBOAM_TEMPORAL_ADDRESS": temporal_server.address,
            "JEROBOAM_TASK_QUEUE": settings.task_queue,
            "JEROBOAM_OWN_WORKER_DRIVERS": NAME,
            "JEROBOAM_WORKER_HEALTH_PORT": "0",
            "JEROBOAM_POLL_INTERVAL_SECONDS": "0.1",
        }
        calls = CoeClient(temporal_client, settings.task_queue)
        async with serving(settings, engine.store, engine.operations, registry, calls) as service:
            yield Product(service, engine, elsewhere, environment)


async def test_driver_with_a_library_that_conflicts(
    product: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its clusters are checked, built, changed and removed; nothing of it is imported here."""
    assert "cannot import name 'length'" in broken_here()
    silent = await product.driver()
    assert (silent["state"], "jeroboam worker --driver tape" in silent["reason"]) == (
        "broken",
        True,
    )
    service = product.service
    with product.environment.worker() as process:
        found = await product.until_there(process)
        assert found["source"] == f"tape-driver 3.1, in a worker of its own on {hostname()}"
        assert found["version"] == "1.0.0"
        assert found["abilities"] == [
            *("certificate_rotation", "coe_api", "credential_rotation", "drain", "health"),
            *("monitor", "node_groups", "reboot", "rebuild", "upgrade"),
        ]

        wish = {"name": "t", "coe": "kubernetes", "image_id": "fake-image", "driver": NAME}
        refused = await service.call(
            "POST", "/v1/clustertemplates", json={**wish, "labels": {"tape": "long"}}
        )
        assert (refused.status_code, error_of(refused)["detail"]) == (
            400,
            "Label 'tape' is too long, says version 2.",
        )
        template = await service.template(driver=NAME, labels=QUICK)
        body = {"name": "c", "cluster_template_id": template["uuid"]}
        refused = await service.call(
            "POST", "/v1/clusters", json={**body, "labels": {"tape": "long"}}
        )
        assert "says version 2" in error_of(refused)["detail"]

        created = await service.call("POST", "/v1/clusters", json=body)
        assert (await ended(service, created))["state"] == "SUCCEEDED"
        uuid = created.json()["uuid"]
        even = await service.act(
            uuid, "resize", json={"node_count": 2, "nodegroup": "default-master"}
        )
        assert (even.status_code, "odd number" in even.text) == (400, True)
        for action, wanted in (
            ("resize", {"node_count": 2}),
            ("rebuild", {}),
            ("check_health", {}),
            ("upgrade", {"cluster_template": template["uuid"]}),
        ):
            record = await ended(service, await service.act(uuid, action, json=wanted))
            assert record["state"] == "SUCCEEDED", record
        assert len((await product.engine.store.clusters.spec(uuid)).workers[0].nodes) == 2
        first, other = (await product.engine.store.clusters.spec(uuid)).workers[0].nodes
        record = await ended(service, await service.act(uuid, "resize", json={"node_count": 1}))
        assert record["steps"][0]["result"] == f"Emptied: {first.name}."
        assert (await product.engine.store.clusters.spec(uuid)).workers[0].nodes == (other,)
        await product.engine.client.execute_workflow(
            MONITOR_WORKFLOW, id=f"monitor-{uuid}", task_queue=product.engine.settings.task_queue
        )
        shown = (await service.call("GET", f"/v1/clusters/{uuid}")).json()
        assert shown["health_status_reason"] == {"library": "version 2"}
        await check_routes(service, uuid)
        gone = await ended(service, await service.call("DELETE", f"/v1/clusters/{uuid}"))
        assert gone["state"] == "SUCCEEDED"
        second = await service.call("POST", "/v1/clusters", json=body)
        assert (await ended(service, second))["state"] == "SUCCEEDED"
    await product.engine.client.execute_workflow(
        MONITOR_WORKFLOW, id=f"silent-{uuid}", task_queue=product.engine.settings.task_queue
    )
    shown = (await service.call("GET", f"/v1/clusters/{second.json()['uuid']}")).json()
    assert shown["health_status"] == "UNKNOWN"
    assert "no worker of the driver tape" in shown["health_status_reason"]["cluster"]
    monkeypatch.setattr(limits, "COE_TOTAL", limits.ASK_TOTAL / 6)
    measured = f"/v1/clusters/{second.json()['uuid']}/tape/length?text=a"
    response = await service.call("GET", measured)
    assert (response.status_code, "cluster's driver" in response.text) == (503, True)
    monkeypatch.setattr(limits, "ASK_TOTAL", limits.ASK_TOTAL / 6)
    response = await service.call("POST", "/v1/clusters", json=body)
    assert (response.status_code, "No worker of the driver" in response.text) == (503, True)
    assert "tape_driver" not in sys.modules


async def check_routes(service: Service, uuid: str) -> None:
    """Use the routes that the driver's worker has told, right and wrong."""
    base = f"/v1/clusters/{uuid}/tape"
    measured = await service.call("GET", f"{base}/length?text=four&times=2", token="reader-token")
    assert measured.status_code == 200, measured.text
    assert (measured.json()["length"], measured.json()["library"]) == (8, "version 2")
    assert measured.json()["secret"].startswith("-----BEGIN")
    pieces = {"pieces": [{"text": "abc"}, {"text": "de", "scale": 10}]}
    added = await service.call("POST", f"{base}/inch/sums", json=pieces)
    assert (added.status_code, added.json()["length"]) == (200, 23)
    for method, path, body, status, words in (
        ("GET", "length", None, 400, "text"),
        ("GET", "length?text=eleven-long", None, 400, "text"),
        ("GET", "length?text=a&times=many", None, 400, "times"),
        ("GET", "length?text=a&more=1", None, 400, "more"),
        ("POST", "inch/sums", {"pieces": 1}, 400, "pieces"),
        ("POST", "inch/sums", {"pieces": [{"scale": 2}]}, 400, "pieces.0.text: Field required"),
        ("POST", "inch/sums", pieces, 403, "tape:sum"),
    ):
        token = "reader-token" if status == 403 else "member-token"
        answer = await service.call(method, f"{base}/{path}", json=body, token=token)
        assert (answer.status_code, words in error_of(answer)["detail"]) == (status, True), path
    described = (await service.call("GET", "/openapi.json")).json()
    route = described["paths"]["/v1/clusters/{cluster}/tape/length"]["get"]
    assert {one["name"]: one["required"] for one in route["parameters"]} == {
        "cluster": True,
        "text": True,
        "times": False,
    }


def broken_here() -> str:
    """Return what becomes of the driver where it shares an environment with the others."""
    registry = DriverRegistry.load(Settings(drivers_directory=Path("/nonexistent")))
    (reason,) = (one.reason for one in registry.broken() if one.name == NAME)
    for name in [one for one in sys.modules if one.startswith("tape_driver")]:
        del sys.modules[name]
    return reason


def hostname() -> str:
    return socket.gethostname()


def test_a_worker_of_its_own_must_be_announced() -> None:
    """The command says which setting is missing, which driver is not there, and what is wrong."""
    with pytest.raises(ConfigurationError, match="JEROBOAM_OWN_WORKER_DRIVERS"):
        own_worker.only_driver(Settings(), "fake")
    with pytest.raises(ConfigurationError, match="not installed in this environment"):
        own_worker.only_driver(Settings(own_worker_drivers=("absent",)), "absent")
    registry = own_worker.only_driver(Settings(own_worker_drivers=("fake",)), "fake")
    assert [entry.driver.name for entry in registry.entries()] == ["fake"]


def test_a_broken_driver_ends_its_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its reason is the worker's last word."""
    put_library(tmp_path, 1)
    put_package(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "measure", raising=False)
    with pytest.raises(DriverContractError, match=r"tape-driver 3\.1.* cannot import name"):
        own_worker.only_driver(Settings(own_worker_drivers=(NAME,)), NAME)
    for name in [one for one in sys.modules if one.startswith("tape_driver")]:
        del sys.modules[name]
