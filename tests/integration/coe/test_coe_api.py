"""What drivers add to the API, with the real engine: a real Temporal and a real worker."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from jeroboam.activities import coe as activities
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.models import ClusterSpec
from jeroboam.workflows.coe_client import CoeClient
from tests.integration.api.cloud import PROJECT
from tests.integration.api.conftest import Service, error_of, serving
from tests.integration.coe.talkative import (
    SECRET,
    Broken,
    SecondTalkative,
    TalkativeDriver,
    Usurper,
)
from tests.integration.engine import Engine, running_engine


@pytest.fixture(scope="module")
async def live(
    temporal_client: Client, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Service, Engine]]:
    directory = tmp_path_factory.mktemp("coe")
    async with running_engine(temporal_client, directory, driver=TalkativeDriver) as engine:
        kinds = (TalkativeDriver, SecondTalkative, FakeDriver, Usurper, Broken)
        drivers = DriverRegistry([DriverEntry(kind(engine.fakes)) for kind in kinds])
        calls = CoeClient(temporal_client, engine.settings.task_queue)
        async with serving(
            engine.settings, engine.store, engine.operations, drivers, calls
        ) as service:
            yield service, engine


@pytest.fixture(scope="module")
async def spec(live: tuple[Service, Engine]) -> ClusterSpec:
    _, engine = live
    return await engine.ready(driver="talkative", project_id=PROJECT, user_id="u1")


async def get(service: Service, spec: ClusterSpec, path: str, **kwargs: Any) -> Any:
    return await service.call("GET", f"/v1/clusters/{spec.cluster.uuid}/{path}", **kwargs)


async def test_query_and_body_reach_the_handler(
    live: tuple[Service, Engine], spec: ClusterSpec
) -> None:
    """Both are checked, and the handler knows who asks."""
    service, _ = live
    answer = await get(service, spec, "chatter/words?words=hello&times=2")
    assert (answer.status_code, answer.json()) == (200, {"said": ["hello", "hello"], "by": "u1"})
    url = f"/v1/clusters/{spec.cluster.name}/chatter/words"
    answer = await service.call("POST", url, json={"words": "there"}, token="colleague-token")
    assert (answer.status_code, answer.json()) == (200, {"said": ["there"], "by": "u2"})
    answer = await service.call("POST", url)
    assert answer.json()["said"] == ["nothing"]


@pytest.mark.parametrize(
    "query", ["times=many", "nonsense=1", "words=a&nonsense=1"], ids=["type", "name", "one-of-two"]
)
async def test_wrong_input_is_refused(
    live: tuple[Service, Engine], spec: ClusterSpec, query: str
) -> None:
    """The worker is not even asked."""
    answer = await get(live[0], spec, f"chatter/words?{query}")
    assert answer.status_code == 400
    assert query.rpartition("&")[2].partition("=")[0] in error_of(answer)["detail"]


async def test_the_answer_is_for_the_caller_only(
    live: tuple[Service, Engine], spec: ClusterSpec, temporal_client: Client
) -> None:
    """What the handler returns cannot be read in the run's history."""
    answer = await get(live[0], spec, "chatter/keys/mine")
    assert answer.json() == {"said": [SECRET, "https://192.0.2.1:6443"], "by": "mine"}
    kept = b""
    async with asyncio.timeout(20):
        while b"keys/{name}" not in kept:
            async for run in temporal_client.list_workflows("WorkflowType = 'CallCoe'"):
                handle = temporal_client.get_workflow_handle(run.id)
                events = (await handle.fetch_history()).events
                kept += b"".join(event.SerializeToString() for event in events)
    assert SECRET.encode() not in kept


@pytest.mark.parametrize(
    ("path", "token", "status"),
    [
        ("chatter/words", "reader-token", 200),
        ("chatter/words", "nobody-token", 403),
        ("chatter/words", "stranger-token", 404),
        ("chatter/words", "admin-token", 200),
        ("chatter/words", None, 401),
        ("chatter/keys/mine", "reader-token", 403),
        ("chatter/keys/mine", "colleague-token", 403),
        ("chatter/keys/mine", "admin-token", 200),
        ("chatter/unknown", "member-token", 404),
    ],
)
async def test_policy_is_that_of_the_other_routes(
    live: tuple[Service, Engine],
    spec: ClusterSpec,
    path: str,
    token: str | None,
    status: int,
) -> None:
    """Readers read, owners own, and other projects see nothing."""
    answer = await get(live[0], spec, path, token=token)
    assert answer.status_code == status, answer.text


@pytest.mark.parametrize(
    ("how", "status", "words"),
    [
        ("unreachable", 502, "cannot be reached"),
        ("slow", 504, "does not answer"),
        ("wrong", 400, "That cannot be"),
        ("defect", 500, "RuntimeError"),
    ],
)
async def test_the_driver_s_error_is_the_answer(
    live: tuple[Service, Engine], spec: ClusterSpec, how: str, status: int, words: str
) -> None:
    """Each class has its status; the text of a defect stays in the log."""
    answer = await get(live[0], spec, f"chatter/failures/{how}")
    assert answer.status_code == status
    assert words in error_of(answer)["detail"]
    assert SECRET not in answer.text


async def test_a_handler_that_hangs_is_not_waited_for(
    live: tuple[Service, Engine], spec: ClusterSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a 504 when its time is up."""
    monkeypatch.setattr(activities, "HANDLER_SECONDS", 0.3)
    answer = await get(live[0], spec, "chatter/failures/hang")
    assert answer.status_code == 504
    assert "0.3 seconds" in error_of(answer)["detail"]


async def test_a_cluster_without_an_api_address_is_a_conflict(
    live: tuple[Service, Engine],
) -> None:
    """It says what is missing."""
    service, engine = live
    spec, operation = engine.new(driver="talkative", project_id=PROJECT, user_id="u1")
    await engine.accept(spec, operation)
    answer = await get(service, spec, "chatter/words")
    assert answer.status_code == 409
    assert "CREATE_IN_PROGRESS" in error_of(answer)["detail"]


async def test_a_cluster_of_another_driver_does_not_have_the_routes(
    live: tuple[Service, Engine],
) -> None:
    """The answer names the driver."""
    service, engine = live
    spec, operation = engine.new(driver="fake", project_id=PROJECT, user_id="u1")
    await engine.accept(spec, operation)
    answer = await get(service, spec, "chatter/words")
    assert answer.status_code == 404
    assert "driver fake" in error_of(answer)["detail"]


async def test_routes_are_described_once(live: tuple[Service, Engine]) -> None:
    """Drivers of one engine share them; those that cannot be mounted are left out."""
    answer = await live[0].call("GET", "/openapi.json")
    paths = [path for path in answer.json()["paths"] if "chatter" in path]
    assert sorted(paths) == [
        "/v1/clusters/{cluster}/chatter/failures/{how}",
        "/v1/clusters/{cluster}/chatter/keys/{name}",
        "/v1/clusters/{cluster}/chatter/words",
    ]
    words = answer.json()["paths"]["/v1/clusters/{cluster}/chatter/words"]["get"]
    assert {one["name"] for one in words["parameters"]} == {"cluster", "words", "times"}
    assert words["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]


async def test_without_a_worker_the_answer_is_503(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller is told to try again."""
    monkeypatch.setattr("jeroboam.workflows.limits.COE_PATIENCE", timedelta(seconds=1))
    async with running_engine(
        temporal_client, tmp_path, driver=TalkativeDriver, workers=False
    ) as engine:
        drivers = DriverRegistry([DriverEntry(TalkativeDriver(engine.fakes))])
        calls = CoeClient(temporal_client, engine.settings.task_queue)
        async with serving(
            engine.settings, engine.store, engine.operations, drivers, calls
        ) as service:
            spec, operation = engine.new(
                driver="talkative",
                project_id=PROJECT,
                user_id="u1",
                api_address="https://192.0.2.1:6443",
            )
            await engine.accept(spec, operation)
            answer = await get(service, spec, "chatter/words")
    assert answer.status_code == 503
    assert "No worker" in error_of(answer)["detail"]
