"""``jeroboam hook`` against the API."""

import json
from dataclasses import replace

import pytest

from tests.integration.api.conftest import Service
from tests.integration.api.hooks import ALLOWED, SECRET
from tests.integration.cli.conftest import CommandLine


@pytest.fixture
def admin(cli: CommandLine) -> CommandLine:
    return replace(cli, cloud="admin")


async def test_a_webhook_from_its_declaration_to_its_removal(
    service: Service, admin: CommandLine
) -> None:
    """All that is declared is in what is shown, but the secret, which came from a file."""
    (admin.directory / "secret").write_text(f"{SECRET}\n")
    created = json.loads(
        await admin.ok(
            *("hook", "create", "approve", "--url", f"{ALLOWED}/approve", "--phase", "before"),
            *("--operation", "soft-reboot", "--operation", "upgrade", "--timeout", "7200"),
            *("--on-failure", "warn", "--scope", "driver", "--scope-id", "fake"),
            *("--after", "audit", "--secret-file", "secret", "--disabled", "-f", "json"),
        )
    )
    assert created["operations"] == ["upgrade", "soft_reboot"]
    assert (created["timeout_seconds"], created["on_failure"]) == (7200, "warn")
    assert (created["scope"], created["scope_id"]) == ("driver", "fake")
    assert (created["runs_after"], created["enabled"]) == (["audit"], False)
    shown = await admin.ok("hook", "show", "approve", "-f", "json")
    assert json.loads(shown) == created
    assert SECRET not in shown
    assert await service.store.hooks.secret(created["uuid"]) == SECRET
    assert "approve" in await admin.ok("hook", "list")
    assert "--yes" in await admin.refused("hook", "delete", "approve")
    assert await admin.ok("hook", "delete", "approve", "--yes") == "Hook approve is removed.\n"
    assert "could not be found" in await admin.refused("hook", "show", "approve")


async def test_an_installed_hook(admin: CommandLine) -> None:
    """An installed hook is declared with its options, which may be JSON."""
    created = json.loads(
        await admin.ok(
            *("hook", "create", "red", "--source", "python", "--hook", "painter"),
            *("--option", 'colour={"red": 255}', "-f", "json"),
        )
    )
    assert created["options"] == {"colour": {"red": 255}}
    assert created["hook"] == "painter"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a", "--phase", "before"), "A webhook needs 'url'"),
        (("a", "--url", "http://10.0.0.1/", "--phase", "before"), "10.0.0.1"),
        (("a", "--source", "command"), "argv"),
        (("a", "--source", "python", "--hook", "b"), "Hook 'b' is not installed"),
        (("a", "--option", "colour"), "--option takes KEY=VALUE"),
        (("a", "--secret-file", "absent"), "The secret's file absent cannot be read"),
    ],
)
async def test_what_is_refused(admin: CommandLine, arguments: tuple[str, ...], words: str) -> None:
    """What cannot be declared is refused with one line that says what is wrong."""
    assert words in await admin.refused("hook", "create", *arguments)


async def test_only_administrators(cli: CommandLine) -> None:
    """Members are refused by the name of the rule."""
    assert "hook:get_all" in await cli.refused("hook", "list")
