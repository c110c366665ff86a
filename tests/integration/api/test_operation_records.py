"""Operation records: what was asked of clusters, and how it went."""

from datetime import timedelta
from typing import Any

import pytest

from jeroboam.models import (
    Operation,
    OperationKind,
    OperationState,
    Status,
    StepNote,
    StepRecord,
    StepState,
    new_uuid,
    utc_now,
)
from tests.integration.api.cloud import PROJECT
from tests.integration.api.conftest import BASE, Service, error_of


async def show(service: Service, uuid: str, **kwargs: Any) -> dict[str, Any]:
    response = await service.call("GET", f"/v1/operations/{uuid}", **kwargs)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


async def listed(service: Service, query: str = "", **kwargs: Any) -> list[dict[str, Any]]:
    response = await service.call("GET", f"/v1/operations{query}", **kwargs)
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["operations"]
    return found


async def planned(service: Service) -> Operation:
    """Return a resize at work whose run has stored its plan, as the first activity does."""
    uuid = await service.built()
    await service.act(uuid, "resize", json={"node_count": 2})
    operation = service.operations.started[-1]
    plan = await service.app.state.dependencies.planner.plan(operation)
    return await service.store.operations.keep_plan(operation.uuid, plan)


async def removed(service: Service) -> str:
    """Return the uuid of a cluster that was deleted."""
    uuid = await service.built()
    await service.call("DELETE", f"/v1/clusters/{uuid}")
    (operation,) = service.operations.deleted
    await service.apply(operation, state=OperationState.SUCCEEDED, remove_cluster=True)
    assert (await service.call("GET", f"/v1/clusters/{uuid}")).status_code == 404
    return uuid


async def test_a_record_before_its_run_has_begun(service: Service) -> None:
    """At once the record has who, what and when; plan and steps come with the run."""
    uuid = await service.built()
    response = await service.act(uuid, "resize", json={"node_count": 2})
    operation = response.headers["jeroboam-operation"]
    body = await show(service, operation)
    workers = (await service.store.clusters.spec(uuid)).workers[0].uuid
    assert body.pop("created_at").endswith("+00:00")
    assert body == {
        "uuid": operation,
        "kind": "resize",
        "state": "PENDING",
        "cluster_id": uuid,
        "cluster_name": "mine",
        "project_id": PROJECT,
        "user_id": "u1",
        "request_id": response.headers["x-openstack-request-id"],
        "schedule_id": None,
        "reason": None,
        "rollback": True,
        "parameters": {"node_group": workers, "node_count": 2, "nodes_to_remove": []},
        "changes": {},
        "plan": None,
        "steps": [],
        "seq": 0,
        "current_step": None,
        "started_at": None,
        "ended_at": None,
        "deadline_at": None,
        "cancel": {
            "possible": True,
            "effect": "roll_back",
            "message": "The step at work is stopped and what was done is rolled back.",
            "message_now": "The step at work is stopped and what was done is rolled back.",
        },
        "retry_possible": False,
        "links": [
            {"rel": "self", "href": f"{BASE}/v1/operations/{operation}"},
            {"rel": "bookmark", "href": f"{BASE}/operations/{operation}"},
            {"rel": "cluster", "href": f"{BASE}/v1/clusters/{uuid}"},
        ],
    }


async def test_a_record_tells_each_step(service: Service) -> None:
    """Planned steps come first, with attempts and news; then those of the roll-back."""
    operation = await planned(service)
    assert operation.plan is not None
    first, second = operation.plan.steps[:2]
    undo = first.undo[0].name
    begun = utc_now()
    await service.apply(
        operation,
        state=OperationState.COMPENSATING,
        run_id="run-1",
        steps=(
            StepRecord(name=first.name, state=StepState.SUCCEEDED, started_at=begun),
            StepRecord(name=second.name, state=StepState.FAILED, started_at=begun, error="Full."),
            StepRecord(name=undo, state=StepState.RUNNING, started_at=begun, undoes=True),
        ),
    )
    note = StepNote(operation_id=operation.uuid, step=second.name, attempt=4, message="No host.")
    await service.store.operations.note(note)
    body = await show(service, operation.uuid)
    names = [step["name"] for step in body["steps"]]
    assert names == [*(step.name for step in operation.plan.steps), undo]
    done, failed, waits, undoing = body["steps"]
    assert (done["state"], done["action"], done["attempts"]) == ("SUCCEEDED", "submit", 1)
    assert (failed["state"], failed["attempts"]) == ("FAILED", 4)
    assert (failed["error"], failed["message"]) == ("Full.", "No host.")
    assert (waits["state"], waits["attempts"], waits["started_at"]) == ("PENDING", 0, None)
    assert (undoing["undoes"], undoing["action"], undoing["hook"]) == (True, "submit", None)
    assert body["current_step"] == undo
    assert body["changes"] == {"default-worker.node_count": "1 -> 2"}
    assert body["plan"]["deadline_seconds"] == operation.plan.deadline_seconds
    assert body["plan"]["steps"][0]["undo"] == [step.name for step in first.undo]
    assert body["deadline_at"] > body["started_at"]
    assert body["cancel"] == {
        "possible": False,
        "effect": "roll_back",
        "message": "It is being rolled back already.",
        "message_now": "It is being rolled back already.",
    }


async def test_the_run_is_linked_for_administrators(service: Service) -> None:
    """The link leads to the run in Temporal's UI, quoted; tenants do not see it."""
    operation = await planned(service)
    await service.apply(operation, run_id="0198-run")
    links = (await show(service, operation.uuid, token="admin-token"))["links"]
    (link,) = [link["href"] for link in links if link["rel"] == "temporal"]
    assert link == (
        "http://127.0.0.1:8233/namespaces/default/workflows/"
        f"cluster%2F{operation.cluster_id}/0198-run/history"
    )
    links = (await show(service, operation.uuid))["links"]
    assert "temporal" not in {link["rel"] for link in links}


async def test_records_of_a_deleted_cluster_remain(service: Service) -> None:
    """The project still sees what happened to a cluster that is gone, by its uuid."""
    uuid = await removed(service)
    kinds = [one["kind"] for one in await listed(service)]
    assert kinds == ["delete", "create"]
    response = await service.call("GET", f"/v1/clusters/{uuid}/operations")
    assert [one["kind"] for one in response.json()["operations"]] == kinds
    assert [one["kind"] for one in await listed(service, f"?cluster={uuid}")] == kinds
    body = await show(service, response.json()["operations"][0]["uuid"])
    assert (body["state"], body["cancel"]["possible"]) == ("SUCCEEDED", False)
    assert body["cancel"]["message"].startswith("The operation has ended (SUCCEEDED)")


async def test_the_newest_comes_first_and_pages_go_on(service: Service) -> None:
    """Following ``next`` visits all records once, with the filters kept."""
    uuid = await service.built()
    for size in (2, 3):
        await service.act(uuid, "resize", json={"node_count": size})
        await service.finish(uuid)
    kinds = [one["kind"] for one in await listed(service)]
    assert kinds == ["resize", "resize", "create"]
    for start in (
        f"{BASE}/v1/operations?limit=1&kind=resize&cluster=mine",
        f"{BASE}/v1/clusters/mine/operations?limit=1&kind=resize",
    ):
        visited, url = [], start
        for _ in range(2):
            page = (await service.call("GET", url)).json()
            visited += [one["uuid"] for one in page["operations"]]
            url = page["next"]
            assert "kind=resize" in url
        assert visited == [one["uuid"] for one in await listed(service, "?kind=resize")]
        assert (await service.call("GET", url)).json() == {"operations": []}
    oldest = await listed(service, "?sort_dir=asc&sort_key=created_at")
    assert [one["kind"] for one in oldest] == ["create", "resize", "resize"]


async def test_lists_are_filtered(service: Service) -> None:
    """Kind, state, cluster, schedule and time narrow a list; words may be several."""
    first = await service.built(name="first")
    await service.act(first, "resize", json={"node_count": 2})
    await service.fail(first)
    second = await service.cluster((await service.template(name="other"))["uuid"], name="second")
    schedule = new_uuid()
    asked = service.operations.started[-1].model_copy(
        update={
            "uuid": new_uuid(),
            "kind": OperationKind.REBUILD,
            "cluster_id": first,
            "schedule_id": schedule,
            "created_at": utc_now() + timedelta(days=1),
        }
    )
    await service.store.operations.add(asked)
    later = (utc_now() + timedelta(hours=1)).isoformat()
    cases: list[tuple[str, list[tuple[str, str]]]] = [
        ("?kind=resize", [("resize", first)]),
        (
            "?kind=resize,CREATE&sort_dir=asc",
            [("create", first), *[("resize", first)], ("create", second)],
        ),
        ("?state=failed", [("resize", first)]),
        ("?state=PENDING,FAILED&kind=resize,create", [("create", second), ("resize", first)]),
        (f"?cluster={second}", [("create", second)]),
        ("?cluster=second", [("create", second)]),
        (f"?schedule={schedule}", [("rebuild", first)]),
        (f"?since={later}", [("rebuild", first)]),
        (f"?since={later.replace('+00:00', 'Z')}", [("rebuild", first)]),
        (f"?since={later.removesuffix('+00:00')}", [("rebuild", first)]),
        ("?since=2999-01-01", []),
        (f"?cluster={new_uuid()}", []),
    ]
    for query, expected in cases:
        found = [(one["kind"], one["cluster_id"]) for one in await listed(service, query)]
        assert found == expected, query


@pytest.mark.parametrize("path", ["/v1/operations", "/v1/clusters/mine/operations"])
@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("kind=explode", "Unknown kind 'explode'. There are: create, update"),
        ("state=GONE", "Unknown state 'GONE'. There are: PENDING, RUNNING"),
        ("schedule=nightly", "Expected a uuid but received nightly"),
        ("since=yesterday", "'yesterday' is no time"),
        ("since=0001-01-01T00:00:00%2B23:00", "is no time"),
        ("limit=0", "Limit must be positive"),
        ("sort_key=plan", "sort key value 'plan' is invalid"),
        ("colour=red", 'Unknown argument: "colour"'),
    ],
)
async def test_bad_filters_are_400(service: Service, path: str, query: str, message: str) -> None:
    """A filter that cannot be understood says what could be."""
    await service.built()
    response = await service.call("GET", f"{path}?{query}")
    assert (response.status_code, message in error_of(response)["detail"]) == (
        400,
        True,
    ), response.text


async def test_clusters_and_operations_that_are_not_there(service: Service) -> None:
    """An unknown cluster or operation is 404; a cluster of which nothing fits has an empty list."""
    await service.built()
    for path in (
        f"/v1/operations/{new_uuid()}",
        "/v1/operations/absent",
        "/v1/operations?cluster=absent",
        f"/v1/clusters/{new_uuid()}/operations",
        "/v1/clusters/absent/operations",
    ):
        assert (await service.call("GET", path)).status_code == 404, path
    empty = await service.call("GET", "/v1/clusters/mine/operations?kind=delete")
    assert empty.json() == {"operations": []}


async def test_the_input_is_shown_as_it_counts(service: Service) -> None:
    """Each kind shows those of its parameters that mean something."""
    uuid = await service.built(node_count=2)
    calls: list[tuple[str, str, Any, set[str]]] = [
        ("POST", "/actions/upgrade", {"cluster_template": "small"}, {"cluster_template_id"}),
        ("POST", "/actions/rebuild", {"batch_size": None}, {"batch_size", "nodes", "node_groups"}),
        ("POST", "/actions/check_health", None, set()),
        ("POST", "/nodegroups", {"name": "big"}, {"group"}),
        ("DELETE", "/nodegroups/big", None, {"node_group"}),
    ]
    for method, path, body, expected in calls:
        response = await service.call(method, f"/v1/clusters/{uuid}{path}", json=body)
        shown = await show(service, response.headers["jeroboam-operation"])
        assert shown["parameters"].keys() >= expected
        assert ("node_count" in shown["parameters"]) is False
        if "group" in expected:
            assert shown["parameters"]["group"]["name"] == "big"
            assert "status" not in shown["parameters"]["group"]
        await service.finish(uuid)


async def test_a_failed_operation_says_why_and_can_be_retried(service: Service) -> None:
    """The reason is in the record, and that a retry is possible."""
    uuid = await service.built()
    await service.act(uuid, "rebuild")
    operation = await service.fail(uuid)
    body = await show(service, operation.uuid)
    assert (body["state"], body["reason"]) == ("FAILED", "No valid host.")
    assert body["retry_possible"]
    assert body["ended_at"] is not None
    assert (await service.store.clusters.spec(uuid)).cluster.status is Status.UPDATE_FAILED
