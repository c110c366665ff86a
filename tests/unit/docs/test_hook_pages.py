"""What the pages on hooks show works: the examples run, the files are read."""

import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from jeroboam.errors import DriverContractError, HookRejectedError
from jeroboam.hooks import file
from jeroboam.hooks.base import HookEvent
from jeroboam.hooks.outbound import GuardedOutbound
from jeroboam.hooks.targets import Targets
from jeroboam.hooks.webhook import WebhookHook
from jeroboam.models import ClusterSpec, HookPhase, OperationKind
from jeroboam.models.hook import HookDeclaration
from jeroboam.settings import Settings
from jeroboam.testing.hook_suite import HookCase, HookSuite
from tests.fakes import NoCloud
from tests.unit.docs import tables
from tests.unit.docs.test_docs import example_hook, run_code
from tests.unit.hooks.hooks import a_declaration, an_event
from tests.unit.specs import make_spec

GUIDE = "how-to/write-a-hook.md"
CONTRACT = (tables.DOCS / "hook-contract.md").read_text()


class TestExampleHook(HookSuite):
    """The hook of the page passes the compliance suite, set up as the page says."""

    @pytest.fixture
    def case(self, tmp_path: Path) -> HookCase:
        ledger = tmp_path / "ledger"
        event = HookEvent(OperationKind.CREATE, HookPhase.AFTER, make_spec(), NoCloud(), "c:o:s")
        return HookCase(
            hook=example_hook("LedgerHook", ledger),
            event=event,
            observe=lambda: ledger.read_text() if ledger.exists() else "",
        )


class TestExampleVeto(HookSuite):
    """The veto of the page passes the compliance suite."""

    @pytest.fixture
    def case(self) -> HookCase:
        def event(**fields: Any) -> HookEvent:
            return an_event(operation=OperationKind.DELETE, spec=make_spec(**fields), secret=None)

        return HookCase(
            hook=example_hook("FreezeHook"),
            event=event(),
            observe=lambda: None,
            acts=False,
            vetoes=(event(labels={"frozen": "true"}),),
        )


@pytest.fixture
def receiver() -> Iterator[str]:
    handler = run_code(GUIDE)["Receiver"]
    assert isinstance(handler, type)
    assert issubclass(handler, BaseHTTPRequestHandler)
    quiet = type("Quiet", (handler,), {"log_message": lambda *_: None})
    with ThreadingHTTPServer(("127.0.0.1", 0), quiet) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def sized(nodes: int) -> ClusterSpec:
    return make_spec(workers=nodes - 1)


def test_example_receiver(receiver: str) -> None:
    """The receiver of the page allows, asks for time, and refuses; a wrong signature it refuses."""
    hook = WebhookHook(a_declaration(url=receiver))
    outbound = GuardedOutbound(Targets([receiver]))
    small = hook.run(an_event(outbound=outbound, spec=sized(5)))
    assert small.labels == {"size": "small"}
    assert hook.run(an_event(outbound=outbound, spec=sized(50))).later
    with pytest.raises(HookRejectedError, match="more than 100 nodes"):
        hook.run(an_event(outbound=outbound, spec=sized(500)))
    forged = an_event(outbound=outbound, secret="whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD")
    with pytest.raises(DriverContractError, match="HTTP 401"):
        hook.run(forged)


@pytest.mark.parametrize(
    "text", re.findall(r"```yaml\n(.*?)```", (tables.DOCS / GUIDE).read_text(), re.DOTALL)
)
def test_example_files(text: str, tmp_path: Path) -> None:
    """The files of the page can be read."""
    room = tmp_path / "room"
    room.write_text("https://hooks.slack.com/services/T0")
    path = tmp_path / "hooks.yaml"
    path.write_text(text.replace("/etc/jeroboam/data-team-room", str(room)))
    assert file.read(path).declarations


def test_all_fields_are_explained() -> None:
    """The contract has every field of a declaration, and every setting of hooks is on a page."""
    fields = HookDeclaration.model_fields.keys() - {"uuid", "created_at", "updated_at"}
    declared = CONTRACT.partition("## Declaration")[2].partition("## When it runs")[0]
    assert {name for name in fields if f"`{name}`" not in declared} == set()
    for setting in ("hooks_file", "hooks_key", "webhook_allowed", "webhook_networks"):
        assert setting in Settings.model_fields
        assert f"JEROBOAM_{setting.upper()}" in CONTRACT
