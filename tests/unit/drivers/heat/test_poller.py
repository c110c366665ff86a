"""One list call answers for all clusters, whatever Heat's policy allows."""

from collections.abc import Iterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from jeroboam.drivers.base import Phase, Watch
from jeroboam.drivers.heat import poller
from jeroboam.drivers.heat.poller import HeatPoller
from jeroboam.errors import CloudUnavailableError
from jeroboam.models import Method
from tests.unit.drivers.heat.fake_heat import FakeCloud, FakeHeat, serving


@pytest.fixture
def heat() -> FakeHeat:
    return FakeHeat()


@pytest.fixture
def cloud(heat: FakeHeat) -> Iterator[FakeCloud]:
    with serving(heat) as cloud:
        yield cloud


def watch(cluster_id: str, project: str = "p1", **fields: Any) -> Watch:
    return Watch(
        **{
            "cluster_id": cluster_id,
            "project_id": project,
            "trust_id": project,
            "backend_id": None,
            "method": Method.CREATE_CLUSTER,
            "key": "key",
            **fields,
        }
    )


def test_one_call_for_all(heat: FakeHeat, cloud: FakeCloud) -> None:
    """The number of requests does not grow with the number of clusters and projects."""
    watches = []
    for number in range(200):
        project = f"p{number % 20}"
        heat.add(project, str(number), "CREATE_COMPLETE" if number % 2 else "CREATE_IN_PROGRESS")
        watches.append(watch(str(number), project))
    found = HeatPoller().poll(cloud, watches)
    assert [found[str(number)].phase for number in range(2)] == [Phase.RUNNING, Phase.DONE]
    assert len(found) == 200
    assert heat.lists() == [{"tags": "jeroboam", "limit": "1000", "global_tenant": "True"}]
    assert len(heat.requests) == 2


def test_nothing_to_wait_for(heat: FakeHeat, cloud: FakeCloud) -> None:
    """Without watches Heat is left in peace."""
    assert HeatPoller().poll(cloud, []) == {}
    assert heat.requests == []


def test_engines_are_asked_only_while_something_runs(heat: FakeHeat, cloud: FakeCloud) -> None:
    """A stack at rest cannot have lost its engine."""
    heat.add("p1", "a", "CREATE_COMPLETE")
    HeatPoller().poll(cloud, [watch("a")])
    assert [path for _, path, _ in heat.requests] == ["/stacks"]


def test_missing_stack(cloud: FakeCloud) -> None:
    """What Heat does not list is gone."""
    methods = (Method.CREATE_CLUSTER, Method.DELETE_CLUSTER)
    found = HeatPoller().poll(cloud, [watch(one, method=one) for one in methods])
    assert {progress.phase for progress in found.values()} == {Phase.GONE}


def test_pages(heat: FakeHeat, cloud: FakeCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long list comes in pages, and no page is asked for twice."""
    monkeypatch.setattr(poller, "PAGE", 2)
    for number in range(5):
        heat.add("p1", str(number), "CREATE_COMPLETE")
    found = HeatPoller().poll(cloud, [watch(str(number)) for number in range(5)])
    assert {progress.phase for progress in found.values()} == {Phase.DONE}
    assert [query.get("marker") for query in heat.lists()] == [None, "stack-1", "stack-3"]


def test_refused_global_list(heat: FakeHeat, cloud: FakeCloud) -> None:
    """Where the policy forbids one list for all, there is one for each project; it is said once."""
    heat.global_list = False
    heat.add("p1", "a", "CREATE_COMPLETE")
    heat.add("p2", "b", "CREATE_FAILED", stack_status_reason="no host")
    watches = [watch("a"), watch("a2"), watch("b", "p2")]
    hub = HeatPoller()
    with capture_logs() as logs:
        for _ in range(2):
            found = hub.poll(cloud, watches)
    assert [found[name].phase for name in ("a", "a2", "b")] == [
        Phase.DONE,
        Phase.GONE,
        Phase.FAILED,
    ]
    assert "no host" in found["b"].message
    assert ["global_tenant" in query for query in heat.lists()] == [True] + [False] * 4
    warnings = [entry for entry in logs if entry["event"] == "heat_global_list_refused"]
    assert len(warnings) == 1
    assert "stacks:global_index" in warnings[0]["remedy"]


def test_revoked_trust(heat: FakeHeat, cloud: FakeCloud) -> None:
    """One project whose credentials are gone does not blind the others."""
    heat.global_list = False
    heat.add("p2", "b", "CREATE_COMPLETE")
    found = HeatPoller().poll(cloud, [watch("a", trust_id=None), watch("b", "p2")])
    assert found["a"].phase is Phase.FAILED
    assert "revoked" in found["a"].message
    assert found["b"].phase is Phase.DONE


def test_a_colleagues_revoked_trust(heat: FakeHeat, cloud: FakeCloud) -> None:
    """One cluster whose owner has left does not blind the others of its project."""
    heat.global_list = False
    heat.add("p1", "theirs", "CREATE_COMPLETE")
    heat.add("p1", "ours", "CREATE_COMPLETE")
    found = HeatPoller().poll(cloud, [watch("theirs", trust_id=None), watch("ours")])
    assert {progress.phase for progress in found.values()} == {Phase.DONE}


def test_heat_does_not_answer(heat: FakeHeat, cloud: FakeCloud) -> None:
    """Heat's silence says nothing about clusters; the engine asks again."""
    heat.down = True
    with pytest.raises(CloudUnavailableError):
        HeatPoller().poll(cloud, [watch("a")])


def test_restarted_heat(heat: FakeHeat, cloud: FakeCloud) -> None:
    """A stack in progress which is older than Heat's engine has to be submitted again."""
    heat.engines = [{"status": "up", "created_at": "2026-01-02T12:00:30.5"}]
    heat.add("p1", "lost", "CREATE_IN_PROGRESS")
    heat.add("p1", "young", "CREATE_IN_PROGRESS", creation_time="2026-01-02T12:01:00Z")
    found = HeatPoller().poll(cloud, [watch("lost"), watch("young")])
    assert found["lost"].phase is Phase.INTERRUPTED
    assert found["young"].phase is Phase.RUNNING


def test_engines_are_hidden(heat: FakeHeat, cloud: FakeCloud) -> None:
    """Where Heat hides its engines, stacks in progress count as running."""
    heat.engines = None
    heat.add("p1", "a", "CREATE_IN_PROGRESS")
    assert HeatPoller().poll(cloud, [watch("a")])["a"].phase is Phase.RUNNING


def test_engines_are_asked_now_and_then(heat: FakeHeat, cloud: FakeCloud) -> None:
    """While Heat answers, its engines are asked for once in many polls; after a silence at once."""
    heat.add("p1", "a", "CREATE_IN_PROGRESS")
    poller = HeatPoller()
    for _ in range(3):
        poller.poll(cloud, [watch("a")])
    assert [path for _, path, _ in heat.requests].count("/services") == 1
    heat.down = True
    with pytest.raises(CloudUnavailableError):
        poller.poll(cloud, [watch("a")])
    heat.down = False
    poller.poll(cloud, [watch("a")])
    assert [path for _, path, _ in heat.requests].count("/services") == 2
