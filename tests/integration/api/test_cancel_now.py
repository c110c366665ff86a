"""Work on nodes that the backend never finishes is let go over HTTP, with the real engine."""

import asyncio
from typing import Any

import pytest

from tests.integration.api.conftest import Service, error_of
from tests.integration.api.test_with_engine import created, ended, live, show

__all__ = ["live"]

LONG_ENOUGH = 1.5
"""Seconds in which a cancellation would have ended the operation; the engine polls every 0.1."""


async def hanging(service: Service, name: str, verb: str = "reboot", **labels: str) -> Any:
    """Begin work on nodes that never ends; return the answer when the engine waits for it."""
    uuid = await created(service, name, fake_lie=verb, **labels)
    body = {"type": "hard"} if verb == "reboot" else {}
    response = await service.act(uuid, verb, json=body)
    assert response.is_success, response.text
    await waiting(service, response)
    return response


async def waiting(service: Service, response: Any) -> None:
    """Wait until the engine waits for the backend."""
    for _ in range(600):
        if str((await record(service, response))["current_step"]).startswith("Wait"):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("The operation waits for nothing.")


async def record(service: Service, response: Any) -> dict[str, Any]:
    path = f"/v1/operations/{response.headers['jeroboam-operation']}"
    body: dict[str, Any] = (await service.call("GET", path)).json()
    return body


async def cancel(service: Service, response: Any, **body: Any) -> Any:
    path = f"/v1/operations/{response.headers['jeroboam-operation']}/cancel"
    return await service.call("POST", path, json=body)


@pytest.mark.parametrize("verb", ["reboot", "rebuild"])
async def test_a_cancellation_that_waits_can_be_hurried(live: Service, verb: str) -> None:
    """One that waits for a batch that never ends says how not to wait, and that ends it."""
    started = await hanging(live, f"hurried-{verb}", verb)
    waits = await cancel(live, started, reason="no news")
    assert "--now" in waits.json()["message"]
    await asyncio.sleep(LONG_ENOUGH)
    assert (await record(live, started))["state"] == "RUNNING"
    again = await cancel(live, started)
    assert (again.status_code, "being cancelled already" in again.text) == (409, True)
    hurried = await cancel(live, started, now=True)
    assert hurried.status_code == 202, hurried.text
    assert "not waited for" in hurried.json()["message"]
    over = await ended(live, started, seconds=10)
    assert over["state"] == "CANCELLED"
    reason = "Cancelled by user u1: no news. Cancelled at once by user u1. Done: none. May still be"
    assert over["reason"].startswith(f"{reason} at work: ")
    assert "Not done: " in over["reason"]
    waited = next(step for step in over["steps"] if step["name"].startswith("Wait"))
    assert waited["state"] == "CANCELLED"


async def test_what_was_let_go_can_be_taken_up(live: Service) -> None:
    """The cluster tells what happened, and a retry does what is left."""
    started = await hanging(live, "let-go")
    assert (await cancel(live, started, now=True)).status_code == 202
    over = await ended(live, started, seconds=10)
    cluster = await show(live, over["cluster_id"])
    assert cluster["status"] == "UPDATE_FAILED"
    assert cluster["status_reason"] == over["reason"]
    assert over["retry_possible"]
    retried = await live.call("POST", f"/v1/operations/{over['uuid']}/retry")
    assert (await ended(live, retried))["state"] == "SUCCEEDED"
    assert (await show(live, over["cluster_id"]))["status"] == "UPDATE_COMPLETE"


async def test_what_was_let_go_stands_in_nobody_s_way(live: Service) -> None:
    """The nodes can be rebooted anew, though the backend works on them, and the cluster deleted."""
    started = await hanging(live, "anew")
    await cancel(live, started, now=True)
    uuid = (await ended(live, started, seconds=10))["cluster_id"]
    anew = await live.act(uuid, "reboot", json={"type": "soft"})
    assert (await ended(live, anew))["state"] == "SUCCEEDED"
    late = await cancel(live, started, now=True)
    assert (late.status_code, "ended already" in error_of(late)["detail"]) == (409, True)
    started = await hanging(live, "deleted")
    await cancel(live, started, now=True)
    uuid = (await ended(live, started, seconds=10))["cluster_id"]
    removal = await ended(live, await live.call("DELETE", f"/v1/clusters/{uuid}"))
    assert removal["state"] == "SUCCEEDED"


async def test_a_change_is_rolled_back_all_the_same(live: Service) -> None:
    """Where a cancellation does not wait anyhow, ``now`` means nothing more."""
    uuid = await created(live, "rolled-now", fake_update_seconds="3")
    resize = await live.act(uuid, "resize", json={"node_count": 4})
    await waiting(live, resize)
    answer = await cancel(live, resize, now=True)
    assert "rolled back" in answer.json()["message"]
    again = await cancel(live, resize, now=True)
    assert again.status_code == 409
    over = await ended(live, resize)
    assert (over["state"], "at work" in over["reason"]) == ("CANCELLED", False)
    cluster = await show(live, uuid)
    assert (cluster["status"], cluster["node_count"]) == ("ROLLBACK_COMPLETE", 2)
