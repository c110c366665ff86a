"""``jeroboam driver`` against the API."""

import json
from dataclasses import replace

from tests.integration.cli.conftest import CommandLine


async def test_drivers_are_listed_and_shown(cli: CommandLine) -> None:
    """Names, versions, states, kinds and reasons; sources for administrators alone."""
    admin = replace(cli, cloud="admin")
    rows = {one["name"]: one for one in json.loads(await admin.ok("driver", "list", "-f", "json"))}
    assert rows["fake"]["provides"] == "kubernetes on fake (vm)"
    assert (rows["fake"]["state"], rows["fake"]["source"]) == ("enabled", "this process")
    assert rows["disabled_driver"]["reason"] == "the operator lists it in disabled_drivers"
    mine = json.loads(await cli.ok("driver", "list", "-f", "json"))
    assert {one["source"] for one in mine} == {None}
    shown = json.loads(await cli.ok("driver", "show", "fake", "-f", "json"))
    assert {"health", "node_groups", "reboot", "rebuild", "upgrade"} <= {*shown["abilities"]}
    assert "Driver typo could not be found" in await cli.refused("driver", "show", "typo")
