"""The routes of Swarm and Mesos, from the HTTP API to engines that let in only whom they know."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from temporalio.client import Client

from jeroboam import certificates
from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.coe_api import CoeApi, SupportsCoeApi
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.mesos.api import MESOS_API
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.drivers.swarm.api import SWARM_API
from jeroboam.models import ClusterOutputs, ClusterSpec
from jeroboam.workflows.coe_client import CoeClient
from tests.conftest import free_port
from tests.integration.api.cloud import PROJECT
from tests.integration.api.conftest import Service, error_of, serving
from tests.integration.engine import running_engine
from tests.unit.drivers.docker.answers import app, docker_node, docker_service
from tests.unit.drivers.docker.engine import Engine, serve


class Pretended(FakeDriver, SupportsCoeApi):
    """The fake driver, but for the address and the routes of the engine."""

    port: ClassVar[int] = 0
    api: ClassVar[CoeApi] = SWARM_API

    @property
    def coe_api(self) -> CoeApi:
        return self.api

    def read_outputs(self, context: DriverContext, spec: ClusterSpec) -> ClusterOutputs:
        outputs = super().read_outputs(context, spec)
        return outputs.model_copy(update={"api_address": f"https://127.0.0.1:{self.port}"})


class PretendedSwarm(Pretended):
    name: ClassVar[str] = "pretended_swarm"


class PretendedMesos(Pretended):
    name: ClassVar[str] = "pretended_mesos"
    api: ClassVar[CoeApi] = MESOS_API


ANSWERS: dict[type[Pretended], dict[str, tuple[int, Any]]] = {
    PretendedSwarm: {
        "/services?status=true": (
            200,
            [docker_service("web", {"Replicated": {"Replicas": 2}}, running=1, desired=2)],
        ),
        "/nodes": (200, [docker_node("m-0", "manager", Leader=True), docker_node("w-0")]),
    },
    PretendedMesos: {"/v2/apps": (200, {"apps": [app("/web", 2, 2)]})},
}


@dataclass
class Live:
    """The service, with one cluster of each kind and the engines in them."""

    service: Service
    clusters: dict[type[Pretended], ClusterSpec]
    engines: dict[type[Pretended], Engine]

    async def get(self, kind: type[Pretended], path: str, **kwargs: Any) -> Any:
        uuid = self.clusters[kind].cluster.uuid
        return await self.service.call("GET", f"/v1/clusters/{uuid}/{path}", **kwargs)


@pytest.fixture(scope="module")
async def live(
    temporal_client: Client, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Live]:
    directory: Path = tmp_path_factory.mktemp("engines")
    kinds = (PretendedSwarm, PretendedMesos)
    for kind in kinds:
        kind.port = free_port()
    drivers = DriverRegistry([DriverEntry(kind(directory / "fake")) for kind in kinds])
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        engine = await enter(running_engine(temporal_client, directory, drivers=drivers))
        calls = CoeClient(temporal_client, engine.settings.task_queue)
        service = await enter(
            serving(engine.settings, engine.store, engine.operations, drivers, calls)
        )
        found = Live(service, {}, {})
        for kind in kinds:
            spec = await engine.ready(driver=kind.name, project_id=PROJECT, user_id="u1")
            kept = await engine.store.secrets.get(spec.cluster.uuid)
            authority = certificates.from_mapping(kept).kubernetes
            served = serve(directory, authority, ANSWERS[kind], kind.port)
            found.clusters[kind] = spec
            found.engines[kind] = stack.enter_context(served)
        yield found


async def test_services(live: Live) -> None:
    """A reader of the project sees the services of a swarm."""
    answer = await live.get(PretendedSwarm, "swarm/services", token="reader-token")
    assert answer.status_code == 200, answer.text
    (web,) = answer.json()["services"]
    assert (web["name"], web["running"], web["desired"]) == ("web", 1, 2)
    assert live.engines[PretendedSwarm].seen[-1] == ("jeroboam", "/services?status=true")


async def test_nodes(live: Live) -> None:
    """The nodes are as the swarm sees them; no more are told than was asked for."""
    answer = await live.get(PretendedSwarm, "swarm/nodes?limit=1")
    assert [one["name"] for one in answer.json()["nodes"]] == ["m-0"]
    assert answer.json()["omitted"] == 1


async def test_apps(live: Live) -> None:
    """The apps are those of Marathon."""
    answer = await live.get(PretendedMesos, "mesos/apps")
    assert [one["id"] for one in answer.json()["apps"]] == ["/web"]


@pytest.mark.parametrize(
    ("kind", "path"),
    [(PretendedSwarm, "mesos/apps"), (PretendedMesos, "swarm/services")],
    ids=["swarm", "mesos"],
)
async def test_engines_are_told_apart(live: Live, kind: type[Pretended], path: str) -> None:
    """A cluster has the routes of its own engine only."""
    answer = await live.get(kind, path)
    assert answer.status_code == 404
    assert kind.name in error_of(answer)["detail"]


async def test_an_engine_in_trouble(live: Live) -> None:
    """What the engine says is passed on as a bad gateway."""
    engine = live.engines[PretendedSwarm]
    before = engine.answers["/nodes"]
    engine.answers["/nodes"] = (503, {"message": "This node is not a swarm manager."})
    try:
        answer = await live.get(PretendedSwarm, "swarm/nodes")
    finally:
        engine.answers["/nodes"] = before
    assert answer.status_code == 502
    assert "not a swarm manager" in error_of(answer)["detail"]
