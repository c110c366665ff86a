"""``jeroboam schedule`` and maintenance windows, with real schedules of Temporal."""

import asyncio
import json

import pytest

from tests.integration.cli.conftest import DEADLINE_SECONDS, CommandLine
from tests.integration.cli.product import Product

YEARLY = ("--cron", "0 3 1 1 *", "--time-zone", "Europe/Berlin")


async def test_a_schedule_from_its_creation_to_its_end(product: Product, live: CommandLine) -> None:
    """A schedule is made, shown, paused, run by hand and deleted, by its name."""
    spec = await product.cluster("by-the-clock")
    name = spec.cluster.name
    created = json.loads(
        await live.ok(
            *("schedule", "create", "yearly", "check-health", "--cluster", name, *YEARLY),
            *("--jitter", "5m", "--catchup", "4h", "--overlap", "buffer-one", "--wait", "2h"),
            *("--when-busy", "skip", "--end", "2099-01-01", "--note", "as agreed", "-f", "json"),
        )
    )
    assert created["cluster_id"] == spec.cluster.uuid
    assert (created["jitter_seconds"], created["catchup_minutes"]) == (300, 240)
    assert (created["overlap"], created["when_busy"]) == ("buffer_one", "skip")
    assert created["end_at"].startswith("2099-01-01T00:00:00")

    listed = await live.ok("schedule", "list", "--cluster", name)
    assert "0 3 1 1 * Europe/Berlin" in listed
    shown = json.loads(await live.ok("schedule", "show", "yearly", "-f", "json"))
    assert shown["next_times"]
    assert await live.ok("schedule", "pause", "yearly") == "Schedule yearly is paused.\n"
    paused = await live.ok("schedule", "show", "yearly", "-f", "value", "-c", "paused")
    assert paused == "True\n"
    assert await live.ok("schedule", "unpause", "yearly") == "Schedule yearly goes on.\n"

    assert "run was started" in await live.ok("schedule", "run", "yearly")
    outcome = await until_ended(live, "yearly")
    assert (outcome["cluster_name"], outcome["state"]) == (name, "SUCCEEDED")
    operation = outcome["operation_id"]
    kind = await live.ok("operation", "show", operation, "-f", "value", "-c", "kind")
    assert kind == "check_health\n"

    assert "--yes" in await live.refused("schedule", "delete", "yearly")
    assert await live.ok("schedule", "delete", "yearly", "--yes") == "Schedule yearly is deleted.\n"
    assert "could not be found" in await live.refused("schedule", "show", "yearly")


async def until_ended(live: CommandLine, schedule: str) -> dict[str, str]:
    """Return the outcome of a schedule's only run, when there is one."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while True:
            rows = json.loads(await live.ok("schedule", "runs", schedule, "-f", "json"))
            if rows and rows[0]["state"] not in {"WAITING", "STARTED"}:
                outcome: dict[str, str] = rows[0]
                return outcome
            await asyncio.sleep(0.2)


async def test_preview(live: CommandLine) -> None:
    """The next times of a schedule that is only thought of, by the clock of its zone."""
    said = await live.ok("schedule", "preview", *YEARLY, "--count", "2", "-f", "value")
    first, second = said.splitlines()
    assert first.endswith("-01-01T03:00:00+01:00")
    assert int(second[:4]) == int(first[:4]) + 1
    fields = ("--at", "hour=3", "--at", "day-of-week=sat", "--count", "1", "-f", "value")
    assert "T03:00:00+00:00" in await live.ok("schedule", "preview", *fields)


async def test_all_that_fit(live: CommandLine) -> None:
    """A selector stays in the project of who asks; its preview is the stored schedule's."""
    created = json.loads(
        await live.ok(
            *("schedule", "create", "many", "soft-reboot", "--label", "tier=test", *YEARLY),
            *("--max-parallel", "3", "--batch-size", "all", "--paused", "-f", "json"),
        )
    )
    assert created["selector"]["labels"] == {"tier": "test"}
    assert created["parameters"] == {"batch_size": None}
    assert created["paused"]
    assert "label tier=test" in await live.ok("schedule", "list")
    assert len((await live.ok("schedule", "preview", "many", "-f", "value")).splitlines()) > 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a", "check-health", *YEARLY), "Say which clusters"),
        (("a", "check-health", "--all"), "Say when"),
        (("a", "check-health", "--all", "--cron", "bad"), "Write five fields"),
        (("a", "delete", "--all", *YEARLY), "kind"),
        (("a", "upgrade", "--all", *YEARLY), "An upgrade needs --template."),
        (("a", "rebuild", "--all", *YEARLY, "--jitter", "5"), "a number with s, m, h or d"),
        (("a", "rebuild", "--cluster", "absent", *YEARLY), "could not be found"),
    ],
)
async def test_what_is_refused(live: CommandLine, arguments: tuple[str, ...], words: str) -> None:
    """What makes no sense is refused with one line that says what would."""
    assert words in await live.refused("schedule", "create", *arguments)


async def test_a_maintenance_window(product: Product, live: CommandLine) -> None:
    """A window is set, shown and taken away."""
    spec = await product.cluster("windowed")
    window = ("cluster", "maintenance-window")
    days = ("--start", "22:30", "--day", "sat", "--day", "sun", "--time-zone", "Europe/Berlin")
    await live.ok(*window, "set", spec.cluster.name, *days, "--duration", "4h")
    shown = json.loads(await live.ok(*window, "show", spec.cluster.name, "-f", "json"))
    assert (shown["days"], shown["start"], shown["duration_minutes"]) == (
        ["sat", "sun"],
        "22:30",
        240,
    )
    assert shown["next_opening"]
    assert "has no maintenance window" in await live.ok(*window, "clear", spec.cluster.name)
    assert "has no maintenance window" in await live.refused(*window, "show", spec.cluster.name)
    refused = await live.refused(*window, "set", spec.cluster.name, "--duration", "4h")
    assert "either --start 22:30, or --cron" in refused
