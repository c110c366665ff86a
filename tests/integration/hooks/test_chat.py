"""The hook ``chat`` against a real server that takes messages."""

from dataclasses import replace
from typing import Any

import pytest

from jeroboam.errors import (
    CloudUnavailableError,
    ConfigurationError,
    DriverContractError,
    InvalidRequestError,
    JeroboamError,
)
from jeroboam.hooks.base import HookEvent
from jeroboam.hooks.chat import ChatHook
from jeroboam.hooks.outbound import GuardedOutbound
from jeroboam.hooks.targets import Targets
from jeroboam.models import HookPhase, OperationKind
from jeroboam.testing.hook_suite import HookCase, HookSuite
from tests.integration.hooks.receiver import Receiver
from tests.unit.hooks.hooks import an_event
from tests.unit.specs import make_spec


def event_for(receiver: Receiver, **changes: Any) -> HookEvent:
    values = {
        "phase": HookPhase.AFTER,
        "spec": make_spec(api_address="https://192.0.2.7:6443"),
        "secret": f"{receiver.url}/T0/very-secret",
        "outbound": GuardedOutbound(Targets([receiver.url])),
    }
    return an_event(**values | changes)


def said(receiver: Receiver) -> str:
    return str(receiver.received[-1].json["text"])


class TestChat(HookSuite):
    """The hook passes the compliance suite; a repeated line has the id of the first."""

    @pytest.fixture
    def case(self, receiver: Receiver) -> HookCase:
        return HookCase(
            hook=ChatHook(),
            event=event_for(receiver),
            observe=lambda: {one.headers["webhook-id"]: one.body for one in receiver.received},
            bad_options=(({"field": "html"}, "'field'"), ({"colour": "red"}, "'colour'")),
        )


def test_good_end(receiver: Receiver) -> None:
    """The room learns what ended well, and where the API is."""
    result = ChatHook().run(event_for(receiver))
    assert said(receiver) == (
        "Done: create of cluster demo (project p1), API https://192.0.2.7:6443"
    )
    assert receiver.received[0].path == "/hook/T0/very-secret"
    assert result.message == "The chat was told."
    ChatHook().run(event_for(receiver, operation=OperationKind.DELETE))
    assert said(receiver) == "Done: delete of cluster demo (project p1)"


def test_bad_end(receiver: Receiver) -> None:
    """The room learns what failed, and why."""
    ChatHook().run(event_for(receiver, phase=HookPhase.FAILURE, failure="No valid host."))
    assert said(receiver) == "Failed: create of cluster demo (project p1): No valid host."


def test_names_cannot_format_or_call(receiver: Receiver) -> None:
    """A tenant's text becomes neither a link nor a mention, and never a wall of text."""
    spec = make_spec(name="<!channel> @here\n&" + "x" * 5000)
    ChatHook().run(event_for(receiver, spec=spec))
    assert "&lt;!channel&gt; @\u200bhere &amp;" in said(receiver)
    assert len(said(receiver)) <= 2000
    ChatHook().run(event_for(receiver, spec=spec, options={"field": "content"}))
    assert "<!channel> @\u200bhere &" in receiver.received[-1].json["content"]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (500, CloudUnavailableError),
        (429, CloudUnavailableError),
        (404, DriverContractError),
        (302, DriverContractError),
    ],
)
def test_room_that_refuses(receiver: Receiver, status: int, error: type[JeroboamError]) -> None:
    """A chat that is down is told again; one that refuses is not; the room's URL stays secret."""
    receiver.status = status
    with pytest.raises(error, match=str(status)) as caught:
        ChatHook().run(event_for(receiver))
    assert "very-secret" not in caught.value.message


def test_room_must_be_allowed(receiver: Receiver) -> None:
    """The room's URL is needed, and must be among the allowed targets."""
    hook, event = ChatHook(), event_for(receiver)
    nothing = GuardedOutbound(Targets(()))
    with pytest.raises(InvalidRequestError, match="not allowed"):
        hook.check({}, event.secret, nothing)
    with pytest.raises(InvalidRequestError, match="'secret'"):
        hook.check({}, None, nothing)
    with pytest.raises(InvalidRequestError, match="not allowed"):
        hook.run(replace(event, outbound=nothing))
    with pytest.raises(ConfigurationError, match="'secret'"):
        hook.run(replace(event, secret=None))
    assert receiver.received == []
