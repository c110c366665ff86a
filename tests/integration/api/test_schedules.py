"""``/v1/schedules`` with a real Temporal server."""

import dataclasses
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.client import Client

from jeroboam.models import new_uuid, utc_now
from jeroboam.models.schedule import RunState, ScheduleRun
from jeroboam.workflows.schedule_client import ScheduleClient
from tests.integration.api.cloud import OTHER_PROJECT, PROJECT
from tests.integration.api.conftest import Service, error_of

SATURDAYS = {"kind": "soft_reboot", "cron": "30 3 * * sat", "time_zone": "Europe/Berlin"}


@pytest.fixture
async def timed(service: Service, temporal_client: Client) -> AsyncIterator[Service]:
    """The service with a Temporal that answers."""
    client = ScheduleClient(temporal_client, service.store, service.settings)
    dependencies = dataclasses.replace(service.app.state.dependencies, schedules=client)
    service.app.state.dependencies = dependencies
    yield service
    for schedule in await service.store.schedules.all_due(utc_now()):
        await client.forget(schedule.temporal_id)


async def create(service: Service, token: str = "member-token", **fields: Any) -> dict[str, Any]:
    body = {"name": f"s-{new_uuid()[:8]}", **SATURDAYS, **fields}
    if "cluster_id" not in fields:
        body.setdefault("selector", {})
    response = await service.call("POST", "/v1/schedules", token=token, json=body)
    assert response.status_code == 201, response.text
    created: dict[str, Any] = response.json()
    assert response.headers["Location"].endswith(f"/v1/schedules/{created['uuid']}")
    return created


async def refused(service: Service, status: int = 400, **fields: Any) -> str:
    token = fields.pop("token", "member-token")
    body = {"name": "bad", **SATURDAYS, **fields}
    if "cluster_id" not in fields:
        body.setdefault("selector", {})
    body = {name: value for name, value in body.items() if value is not ...}
    response = await service.call("POST", "/v1/schedules", token=token, json=body)
    assert response.status_code == status, response.text
    assert await service.store.schedules.named(PROJECT, "bad") is None
    return str(error_of(response)["detail"])


async def test_create_and_show(timed: Service) -> None:
    """A schedule is stored, is in Temporal at once, and shows its next times."""
    cluster = await timed.built()
    created = await create(timed, cluster_id="mine", parameters={"batch_size": 2}, note="Why")
    assert created["cluster_id"] == cluster
    assert created["synced"] is True
    assert created["parameters"] == {"batch_size": 2}
    response = await timed.call("GET", f"/v1/schedules/{created['name']}")
    shown = response.json()
    assert shown["uuid"] == created["uuid"]
    assert shown["running"] == []
    assert (shown["overlapped"], shown["missed"]) == (0, 0)
    first = datetime.fromisoformat(shown["next_times"][0])
    assert first.weekday() == 5
    assert [link["rel"] for link in shown["links"]] == ["self", "bookmark", "runs"]


async def test_operators_get_a_link_into_temporal(timed: Service) -> None:
    """An administrator sees where the schedule is in Temporal's UI; others do not."""
    created = await create(timed)
    path = f"/v1/schedules/{created['uuid']}"
    shown = (await timed.call("GET", path, token="admin-token")).json()
    link = next(link["href"] for link in shown["links"] if link["rel"] == "temporal")
    assert link.endswith(f"/schedules/schedule%2F{PROJECT}%2F{created['name']}")


async def test_calendar(timed: Service) -> None:
    """A calendar's fields may be numbers or texts, and come back as texts."""
    calendar = {"hour": 4, "minute": "*/30", "day_of_month": "1,15", "month": "mar-may"}
    created = await create(timed, cron=None, calendar=calendar)
    assert created["cron"] is None
    assert created["calendar"] == {**calendar, "hour": "4"}
    preview = await timed.call("GET", f"/v1/schedules/{created['uuid']}/preview?count=3")
    times = preview.json()["times"]
    assert len(times) == 3
    assert all("T04:" in at for at in times)


async def test_preview(timed: Service) -> None:
    """The next times are told with the zone's offset, before anything is stored."""
    body = {"cron": "30 3 * * sat", "time_zone": "Europe/Berlin", "count": 4}
    response = await timed.call("POST", "/v1/schedules/preview", token="reader-token", json=body)
    assert response.status_code == 200, response.text
    found = response.json()
    assert found["time_zone"] == "Europe/Berlin"
    assert len(found["times"]) == 4
    for text in found["times"]:
        at = datetime.fromisoformat(text)
        assert (at.hour, at.minute, at.weekday()) == (3, 30, 5)
        assert at.utcoffset() in {timedelta(hours=1), timedelta(hours=2)}
    created = await create(timed)
    stored = await timed.call("GET", f"/v1/schedules/{created['uuid']}/preview?count=4")
    assert stored.json()["times"] == found["times"]


async def test_patch(timed: Service) -> None:
    """A PATCH changes what it names, null returns to the default, and Temporal follows."""
    created = await create(timed, wait_minutes=5, note="n", jitter_seconds=10)
    path = f"/v1/schedules/{created['uuid']}"
    patch = {"calendar": {"hour": "5"}, "wait_minutes": None, "jitter_seconds": 0}
    response = await timed.call("PATCH", path, json=patch)
    assert response.status_code == 200, response.text
    changed = response.json()
    assert changed["cron"] is None
    assert changed["wait_minutes"] == 60
    assert changed["note"] == "n"
    assert changed["updated_at"]
    times = (await timed.call("GET", f"{path}/preview")).json()["times"]
    assert all("T05:00:00" in at for at in times)


async def test_patch_of_kind_and_target(timed: Service) -> None:
    """Another kind begins with its own parameters; a cluster takes the place of a selector."""
    uuid = await timed.built()
    created = await create(timed, parameters={"batch_size": 3})
    path = f"/v1/schedules/{created['uuid']}"
    patch = {"kind": "check_health", "cluster_id": uuid}
    changed = (await timed.call("PATCH", path, json=patch)).json()
    assert changed["parameters"] == {}
    assert changed["selector"] is None
    same = await timed.call("PATCH", path, json={})
    assert same.json() == changed


@pytest.mark.parametrize(
    ("patch", "complaint"),
    [
        ({"name": "other"}, "name of a schedule cannot change"),
        ({"colour": "red"}, "Unknown attribute: colour"),
        ({"cron": "nonsense"}, "has 1 fields"),
        ({"max_parallel": 0}, "max_parallel"),
        ({"cron": None}, "either 'cron'"),
        ({"kind": "upgrade"}, "parameters.cluster_template"),
    ],
)
async def test_bad_patch(timed: Service, patch: dict[str, Any], complaint: str) -> None:
    """A PATCH that does not fit is refused with the reason, and changes nothing."""
    created = await create(timed)
    path = f"/v1/schedules/{created['uuid']}"
    response = await timed.call("PATCH", path, json=patch)
    assert response.status_code == 400, response.text
    assert complaint in error_of(response)["detail"]
    assert (await timed.call("GET", path)).json()["updated_at"] is None


async def test_pause_run_and_delete(timed: Service, temporal_client: Client) -> None:
    """Pause, unpause, run and delete reach Temporal."""
    created = await create(timed)
    path = f"/v1/schedules/{created['uuid']}"
    handle = temporal_client.get_schedule_handle(f"schedule/{PROJECT}/{created['name']}")
    paused = await timed.call("POST", f"{path}/pause", json={"note": "Holidays"})
    assert (paused.json()["paused"], paused.json()["note"]) == (True, "Holidays")
    state = (await handle.describe()).schedule.state
    assert (state.paused, state.note) == (True, "Holidays")
    assert (await timed.call("POST", f"{path}/pause")).status_code == 200
    started = await timed.call("POST", f"{path}/run")
    assert started.status_code == 202, started.text
    assert "was started" in started.json()["message"]
    unpaused = await timed.call("POST", f"{path}/unpause")
    assert unpaused.json()["paused"] is False
    again = await timed.call("POST", f"{path}/run")
    assert again.status_code == 409
    assert "still at work" in error_of(again)["detail"]
    assert (await timed.call("DELETE", path)).status_code == 204
    assert (await timed.call("GET", path)).status_code == 404
    assert (await timed.call("DELETE", path)).status_code == 404
    listed = [one.id async for one in await temporal_client.list_schedules()]
    assert f"schedule/{PROJECT}/{created['name']}" not in listed


async def test_temporal_away(service: Service) -> None:
    """A schedule is made without Temporal; what needs an answer says that there is none."""
    created = await create(service)
    assert created["synced"] is False
    path = f"/v1/schedules/{created['uuid']}"
    shown = await service.call("GET", path)
    assert shown.status_code == 200
    assert shown.json()["next_times"] is None
    for method, tail in (("POST", "/run"), ("GET", "/preview")):
        response = await service.call(method, f"{path}{tail}")
        assert response.status_code == 503, response.text
        assert "Temporal" in error_of(response)["detail"]
    assert (await service.call("DELETE", path)).status_code == 204
    assert (await service.call("GET", path)).status_code == 404


async def test_temporal_learns_later(service: Service, temporal_client: Client) -> None:
    """What was made and deleted while Temporal was away is brought in line by upkeep."""
    kept, gone = await create(service), await create(service)
    await service.call("DELETE", f"/v1/schedules/{gone['uuid']}")
    client = ScheduleClient(temporal_client, service.store, service.settings)
    assert await client.sync_all() == 2
    assert await service.store.schedules.stored(gone["uuid"]) is None
    stored = await service.store.schedules.stored(kept["uuid"])
    assert stored
    assert stored.synced_revision == stored.revision
    assert len(await client.next_times(stored)) == 10
    await client.forget(stored.temporal_id)
    assert await client.sync_all() == 1
    await client.forget(stored.temporal_id)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"cron": "0 25 * * *"}, "'25' is not right for the hour"),
        ({"cron": "every day"}, "has 2 fields. Write five fields"),
        ({"cron": "*/5 * * * * * *"}, "5 seconds apart"),
        ({"cron": "0 0 30 feb *"}, "would never start anything"),
        ({"cron": ...}, "Give either 'cron'"),
        ({"calendar": {"hour": "3"}}, "Give either 'cron'"),
        ({"cron": None, "calendar": {"hours": "3"}}, "calendar.hours"),
        ({"cron": None, "calendar": {"hour": "3-"}}, "'3-' is not right for the hour"),
        ({"time_zone": "Berlin"}, "no time zone 'Berlin'"),
        ({"time_zone": "../../etc/passwd"}, "no time zone"),
        ({"cluster_id": "mine", "selector": {}}, "Give either 'cluster_id'"),
        ({"selector": None}, "Give either 'cluster_id'"),
        ({"selector": {"colour": "red"}}, "selector.colour"),
        ({"selector": {"driver": "no_such"}}, "no_such"),
        ({"kind": "resize"}, "kind"),
        ({"parameters": {"nodes": ["n"]}}, "'nodes' are those of one cluster"),
        ({"parameters": {"batch": 1}}, "parameters.batch"),
        ({"kind": "check_health", "parameters": {"batch_size": 1}}, "parameters.batch_size"),
        ({"max_parallel": 101}, "max_parallel"),
        ({"wait_minutes": -1}, "wait_minutes"),
        ({"overlap": "cancel"}, "overlap"),
        ({"end_at": "2020-01-01T00:00:00Z"}, "would never start anything"),
        ({"start_at": "2030-01-01T00:00:00"}, "start_at"),
        (
            {"start_at": "2030-01-02T00:00:00Z", "end_at": "2030-01-01T00:00:00Z"},
            "must be after",
        ),
        ({"name": "a/b"}, "name"),
    ],
)
async def test_bad_request(service: Service, fields: dict[str, Any], complaint: str) -> None:
    """What cannot be meant is refused with what would be right, and nothing is stored."""
    assert complaint in await refused(service, **fields)


async def test_driver_without_the_ability(service: Service) -> None:
    """A cluster whose driver cannot do it is refused at once."""
    cluster = await service.built()
    detail = await refused(service, cluster_id=cluster, parameters={"nodes": ["nobody"]})
    assert "nobody" in detail


async def test_upgrade(service: Service) -> None:
    """An upgrade names a template that the project sees."""
    cluster = await service.built()
    target = await service.template(name="newer")
    parameters = {"cluster_template": "newer", "max_batch_size": 2}
    created = await create(service, kind="upgrade", cluster_id=cluster, parameters=parameters)
    assert created["parameters"] == {"cluster_template": target["uuid"], "max_batch_size": 2}
    many = await create(service, kind="upgrade", parameters={"cluster_template": "newer"})
    assert many["parameters"]["cluster_template"] == target["uuid"]
    missing = {"kind": "upgrade", "parameters": {"cluster_template": "none"}}
    assert "none" in await refused(service, 404, **missing)


async def test_same_name(service: Service) -> None:
    """A project has one schedule of a name, until that is deleted; other projects have theirs."""
    created = await create(service, name="weekly")
    body = {"name": "weekly", **SATURDAYS, "selector": {}}
    response = await service.call("POST", "/v1/schedules", json=body)
    assert response.status_code == 409
    await create(service, token="stranger-token", name="weekly")
    await service.call("DELETE", f"/v1/schedules/{created['uuid']}")
    again = await create(service, name="weekly")
    assert again["uuid"] != created["uuid"]


async def test_quota(service: Service) -> None:
    """A project has so many schedules and no more."""
    settings = service.settings.model_copy(update={"max_schedules_per_project": 1})
    service.app.state.dependencies = dataclasses.replace(
        service.app.state.dependencies, settings=settings
    )
    await create(service)
    assert "has 1 schedules" in await refused(service, 403)
    await create(service, token="stranger-token")


async def test_list(service: Service) -> None:
    """Each sees the own project's schedules, in pages; an administrator sees all."""
    cluster = await service.built()
    mine = [(await create(service, name=f"n{n}"))["uuid"] for n in range(5)]
    of_cluster = await create(service, cluster_id=cluster)
    theirs = await create(service, token="stranger-token")
    page = (await service.call("GET", "/v1/schedules?limit=4", token="reader-token")).json()
    assert [one["uuid"] for one in page["schedules"]] == mine[:4]
    rest = (await service.call("GET", page["next"].removeprefix("http://jeroboam.test"))).json()
    assert [one["uuid"] for one in rest["schedules"]] == [mine[4], of_cluster["uuid"]]
    everything = await service.call("GET", "/v1/schedules?sort_dir=desc", token="admin-token")
    assert everything.json()["schedules"][0]["uuid"] == theirs["uuid"]
    filtered = (await service.call("GET", f"/v1/schedules?cluster={cluster}")).json()
    assert [one["uuid"] for one in filtered["schedules"]] == [of_cluster["uuid"]]


async def test_runs(service: Service) -> None:
    """Outcomes are listed newest first, by cluster and by state."""
    created = await create(service)
    states = (RunState.SUCCEEDED, RunState.SKIPPED, RunState.FAILED)
    for number, state in enumerate(states):
        run = ScheduleRun(
            uuid=new_uuid(),
            schedule_id=created["uuid"],
            workflow_id=f"run-{number}",
            scheduled_at=datetime(2027, 1, 1 + number, tzinfo=UTC),
            cluster_id=new_uuid(),
            cluster_name=f"c{number}",
            state=state,
            reason="because",
            ended_at=utc_now(),
        )
        await service.store.schedule_runs.record(run)
    path = f"/v1/schedules/{created['uuid']}/runs"
    found = (await service.call("GET", path)).json()["runs"]
    assert [one["state"] for one in found] == ["FAILED", "SKIPPED", "SUCCEEDED"]
    assert found[0]["reason"] == "because"
    assert found[0]["scheduled_at"] == "2027-01-03T00:00:00+00:00"
    skipped = (await service.call("GET", f"{path}?state=skipped")).json()["runs"]
    assert [one["cluster_name"] for one in skipped] == ["c1"]
    one = (await service.call("GET", f"{path}?cluster={found[0]['cluster_id']}")).json()["runs"]
    assert [run["uuid"] for run in one] == [found[0]["uuid"]]
    wrong = await service.call("GET", f"{path}?state=asleep")
    assert "There are: WAITING" in error_of(wrong)["detail"]
    stranger = await service.call("GET", path, token="stranger-token")
    assert stranger.status_code == 404


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_readers_change_nothing(service: Service, method: str) -> None:
    """A reader may look; who has no role may not even do that."""
    created = await create(service)
    path = f"/v1/schedules/{created['uuid']}"
    assert (await service.call("GET", path, token="reader-token")).status_code == 200
    assert (await service.call("GET", path, token="nobody-token")).status_code == 403
    response = await service.call(method, path, token="reader-token", json={"note": "mine"})
    assert response.status_code == 403
    for verb in ("run", "pause", "unpause"):
        response = await service.call("POST", f"{path}/{verb}", token="reader-token")
        assert response.status_code == 403
    assert "schedule:create" in await refused(service, 403, token="reader-token")


async def test_selectors_stay_in_the_project(service: Service) -> None:
    """A tenant's selector chooses among the own clusters; others' are none of its business."""
    created = await create(service, selector={"labels": {"tier": "test"}})
    assert created["selector"] == {
        "project_id": PROJECT,
        "driver": None,
        "labels": {"tier": "test"},
        "certificates_end_within_days": None,
    }
    assert created["all_projects"] is False
    detail = await refused(service, 403, selector={"project_id": OTHER_PROJECT})
    assert "schedule:all_projects" in detail


async def test_administrators_select_everywhere(service: Service) -> None:
    """An administrator's selector may reach every project; members cannot touch it then."""
    created = await create(service, token="admin-token", selector={})
    assert created["all_projects"] is True
    path = f"/v1/schedules/{created['uuid']}"
    for method, tail in (
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/run"),
        ("POST", "/pause"),
        ("POST", "/unpause"),
    ):
        response = await service.call(method, f"{path}{tail}", json={"note": "mine now"})
        assert response.status_code == 403, (method, tail)
        assert "schedule:all_projects" in error_of(response)["detail"]
    template = await service.template(token="stranger-token")
    theirs = await service.cluster(template["uuid"], token="stranger-token")
    single = await create(service, token="admin-token", cluster_id=theirs)
    assert single["all_projects"] is True
    assert "could not be found" in await refused(service, 404, cluster_id=theirs)


async def test_certificates_are_rotated_by_the_clock(service: Service) -> None:
    """A tenant may have the authorities of all own clusters rotated that end soon."""
    selector = {"certificates_end_within_days": 30}
    created = await create(service, kind="rotate_ca", selector=selector)
    assert created["kind"] == "rotate_ca"
    assert created["parameters"] == {}
    assert created["selector"]["certificates_end_within_days"] == 30
    assert created["selector"]["project_id"] == PROJECT
