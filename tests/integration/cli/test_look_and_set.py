"""Nodes, usage, quotas and changes: what Magnum's clients cannot see or set."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.integration.api.cloud import OTHER_PROJECT
from tests.integration.api.conftest import Service
from tests.integration.api.hooks import ALLOWED, SECRET
from tests.integration.cli.conftest import CommandLine


async def found(cli: CommandLine, *arguments: str) -> Any:
    return json.loads(await cli.ok(*arguments, "-f", "json"))


async def test_what_is_known_of_a_cluster(cli: CommandLine, service: Service) -> None:
    """Its nodes with their group, the driver and its version, the use, the authorities."""
    await service.built(node_count=2)
    nodes = await found(cli, "cluster", "nodes", "mine")
    assert sorted(one["role"] for one in nodes) == ["master", "worker", "worker"]
    group = next(one["nodegroup"] for one in nodes if one["role"] == "worker")
    workers = await found(cli, "cluster", "nodes", "mine", "--node-group", group)
    assert [one for one in nodes if one["role"] == "worker"] == workers
    assert await found(cli, "cluster", "nodes", "mine", "--role", "worker") == workers
    assert (await found(cli, "cluster", "driver", "mine"))["driver"] == "fake"
    assert (await found(cli, "cluster", "usage", "mine"))["total"] is None
    assert await found(cli, "cluster", "certificates", "mine") == []
    assert "could not be found" in await cli.refused("cluster", "nodes", "absent")


async def test_quotas_of_all_kinds(cli: CommandLine, service: Service) -> None:
    """Administrators set what Magnum cannot limit, twice if need be, and take it back."""
    admin = replace(cli, cloud="admin")
    before = await found(admin, "quota", "show", OTHER_PROJECT)
    assert {one["resource"] for one in before} == {"Cluster", "Node", "Core", "Operation"}
    for limit in (7, 5):
        made = await found(admin, "quota", "set", OTHER_PROJECT, "Node", str(limit))
        assert made["hard_limit"] == limit
    listed = await found(admin, "quota", "list", "--all-projects")
    assert [(one["resource"], one["hard_limit"]) for one in listed] == [("Node", 5)]
    await admin.ok("quota", "unset", OTHER_PROJECT, "Node")
    assert await found(admin, "quota", "show", OTHER_PROJECT) == before
    assert "quota:" in await cli.refused("quota", "set", OTHER_PROJECT, "Node", "9")
    assert "Typo" in await admin.refused("quota", "set", OTHER_PROJECT, "Typo", "9")


async def test_a_hook_is_changed(cli: CommandLine, tmp_path: Path) -> None:
    """Fields by name, as JSON or text; a secret comes from a file and does not come out."""
    admin, secret = replace(cli, cloud="admin"), tmp_path / "secret"
    secret.write_text(SECRET)
    where = ("--url", f"{ALLOWED}/x", "--phase", "after", "--secret-file", str(secret))
    await admin.ok("hook", "create", "audited", "--source", "webhook", *where)
    changed = await found(
        admin, "hook", "update", "audited", "--set", "enabled=false", "--set", "timeout_seconds=7"
    )
    assert (changed["enabled"], changed["timeout_seconds"]) == (False, 7)
    again = await admin.ok("hook", "update", "audited", "--secret-file", str(secret))
    assert SECRET not in again
    assert "Say what to change" in await admin.refused("hook", "update", "audited")
    assert "colour" in await admin.refused("hook", "update", "audited", "--set", "colour=red")


async def test_a_schedule_is_changed(cli: CommandLine, service: Service) -> None:
    """So is a schedule; what is not named stays."""
    body = {"name": "weekly", "kind": "check_health", "cron": "30 3 * * sat", "selector": {}}
    assert (await service.call("POST", "/v1/schedules", json=body)).status_code == 201
    changed = await found(cli, "schedule", "update", "weekly", "--set", "cron=30 4 * * sun")
    assert (changed["cron"], changed["kind"]) == ("30 4 * * sun", "check_health")
    assert "Say what to change" in await cli.refused("schedule", "update", "weekly")
    assert "--set takes KEY=VALUE" in await cli.refused(
        "schedule", "update", "weekly", "--set", "x"
    )
