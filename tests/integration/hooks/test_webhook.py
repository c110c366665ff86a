"""Webhooks against a real server: signed, bounded, and understood."""

from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from jeroboam.errors import (
    CloudUnavailableError,
    ConfigurationError,
    DriverContractError,
    HookRejectedError,
    InvalidRequestError,
    JeroboamError,
    RateLimitedError,
)
from jeroboam.hooks.base import HookEvent, HookResult
from jeroboam.hooks.outbound import GuardedOutbound
from jeroboam.hooks.targets import Targets
from jeroboam.hooks.webhook import WebhookHook
from jeroboam.models import HookPhase, OperationKind, Parameters
from tests.integration.hooks import receiver as servers
from tests.integration.hooks.receiver import Receiver, receiving
from tests.unit.hooks.hooks import CALLBACK, SECRET, a_declaration, an_event
from tests.unit.specs import make_spec

OTHER_SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"


def event_for(receiver: Receiver, **changes: Any) -> HookEvent:
    origin = receiver.url.removesuffix("/hook")
    return an_event(outbound=GuardedOutbound(Targets([origin])), **changes)


def run(receiver: Receiver, *, seconds: int = 5, **changes: Any) -> HookResult:
    hook = WebhookHook(a_declaration(url=receiver.url, timeout_seconds=seconds))
    return hook.run(event_for(receiver, **changes))


def test_signature_is_the_standard_one(receiver: Receiver) -> None:
    """A receiver verifies the signature with the scheme's own library; a forged body fails."""
    run(receiver)
    (got,) = receiver.received
    assert Webhook(SECRET).verify(got.body, dict(got.headers)) == got.json
    assert got.headers["webhook-id"] == an_event().idempotency_key
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(got.body + b" ", dict(got.headers))
    with pytest.raises(WebhookVerificationError):
        Webhook(OTHER_SECRET).verify(got.body, dict(got.headers))


def test_two_secrets_give_two_signatures(receiver: Receiver) -> None:
    """While a secret is changed, receivers with the old and the new one both verify."""
    run(receiver, secret=f"{OTHER_SECRET} {SECRET}")
    (got,) = receiver.received
    for secret in (SECRET, OTHER_SECRET):
        Webhook(secret).verify(got.body, dict(got.headers))


def test_repetition_has_the_same_id_and_body(receiver: Receiver) -> None:
    """A retry can be recognised: same id, same body."""
    spec = make_spec()
    for _ in range(2):
        run(receiver, spec=spec)
    first, second = receiver.received
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body


def test_body_tells_what_happens(receiver: Receiver) -> None:
    """The body has operation, cluster, template and driver, and no label's secret value."""
    spec = make_spec(labels={"registry_password": "tell-nobody", "colour": "red"})
    run(
        receiver,
        spec=spec,
        operation=OperationKind.RESIZE,
        phase=HookPhase.FAILURE,
        failure="Nova has no host.",
        parameters=Parameters(node_group=spec.workers[0].uuid, node_count=5),
        options={"level": 3},
    )
    body = receiver.received[0].json
    assert body["type"] == "cluster.resize.failure"
    assert body["operation"]["kind"] == "resize"
    assert body["operation"]["failure"] == "Nova has no host."
    assert body["operation"]["parameters"]["node_count"] == 5
    assert body["cluster"]["uuid"] == spec.cluster.uuid
    assert body["cluster"]["template"]["name"] == "template"
    assert body["cluster"]["driver"] == "fake"
    assert body["cluster"]["labels"] == {"registry_password": "***", "colour": "red"}
    assert body["options"] == {"level": 3}
    assert body["callback_url"] == CALLBACK
    assert SECRET not in receiver.received[0].body.decode()


@pytest.mark.parametrize("answer", [{}, b"", b" \n", {"allow": True}])
def test_yes(receiver: Receiver, answer: object) -> None:
    """An empty answer, or one that allows, lets the operation go on."""
    receiver.answer = answer
    assert run(receiver) == HookResult()


def test_no_content(receiver: Receiver) -> None:
    """A 204 lets the operation go on too."""
    receiver.act = servers.no_content
    assert run(receiver) == HookResult()


@pytest.mark.parametrize(
    ("status", "answer"),
    [(200, {"allow": False, "reason": "No budget."}), (403, {"reason": "No budget."})],
)
def test_veto_with_reason(receiver: Receiver, status: int, answer: object) -> None:
    """A refusal reaches the user with its reason and is not tried again."""
    receiver.status, receiver.answer = status, answer
    with pytest.raises(HookRejectedError, match="'approve' refuses: No budget") as caught:
        run(receiver)
    assert not caught.value.retryable


def test_veto_of_a_proxy(receiver: Receiver) -> None:
    """A 403 in another format is a refusal without a reason."""
    receiver.status, receiver.answer = 403, b"<html>Forbidden</html>"
    with pytest.raises(HookRejectedError, match="no reason"):
        run(receiver)


def test_labels(receiver: Receiver) -> None:
    """An answer may add labels and a remark."""
    receiver.answer = {"labels": {"cost_center": "7"}, "reason": "Checked."}
    assert run(receiver) == HookResult(message="Checked.", labels={"cost_center": "7"})


def test_later(receiver: Receiver) -> None:
    """A 202 means that the answer comes by the callback, except when all is over anyway."""
    receiver.status, receiver.answer = 202, b"accepted"
    assert run(receiver).later
    assert not run(receiver, phase=HookPhase.FAILURE).later


@pytest.mark.parametrize(
    "answer",
    [
        b"OK",
        b"<html></html>",
        b"[]",
        b"null",
        b'"yes"',
        b"{",
        b'{"allow": "no"}',
        b'{"allow": 0}',
        b'{"allowed": false}',
        b'{"labels": ["a"]}',
        b'{"labels": {"a": 1}}',
        b'{"labels": {"": "x"}}',
        b'{"reason": {}}',
        b"\xff\xfe",
    ],
)
def test_lying_server(receiver: Receiver, answer: bytes) -> None:
    """A 200 with something else is no permission: the hook fails and is not tried again."""
    receiver.answer = answer
    with pytest.raises(DriverContractError, match="does not know") as caught:
        run(receiver)
    assert not caught.value.retryable


@pytest.mark.parametrize("status", [500, 502, 504, 408])
def test_server_error_is_tried_again(receiver: Receiver, status: int) -> None:
    """A failing server is tried again."""
    receiver.status = status
    with pytest.raises(CloudUnavailableError, match=f"HTTP {status}"):
        run(receiver)


@pytest.mark.parametrize(
    ("header", "pause"), [("7", 7.0), ("100000", 60.0), ("soon", 10.0), ("-1", 10.0)]
)
@pytest.mark.parametrize("status", [429, 503])
def test_pause_that_the_server_asks_for(
    receiver: Receiver, status: int, header: str, pause: float
) -> None:
    """The server's wish for a pause is kept, within bounds."""
    receiver.status, receiver.headers = status, {"Retry-After": header}
    with pytest.raises(RateLimitedError) as caught:
        run(receiver)
    assert caught.value.retry_after_seconds == pause


@pytest.mark.parametrize("status", [400, 401, 404, 410, 422])
def test_other_refusals_end_the_hook(receiver: Receiver, status: int) -> None:
    """A 4xx says that the hook is set up wrongly; it is not tried again."""
    receiver.status = status
    with pytest.raises(DriverContractError, match=f"HTTP {status}"):
        run(receiver)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(receiver: Receiver, status: int) -> None:
    """A redirect leads nowhere, neither inside nor to an allowed target."""
    with receiving() as inside:
        receiver.status, receiver.headers = status, {"Location": inside.url}
        with pytest.raises(DriverContractError, match="redirects are not followed"):
            run(receiver)
        assert inside.received == []


@pytest.mark.parametrize(
    "act", [servers.hang, servers.drip, servers.drip_body], ids=lambda act: act.__name__
)
def test_slow_server(receiver: Receiver, act: servers.Act) -> None:
    """A server that hangs or drips is left when the time is up, and tried again later."""
    receiver.act = act
    with pytest.raises(CloudUnavailableError, match="in time"):
        run(receiver, seconds=1)


@pytest.mark.parametrize(
    "act", [servers.hang_up, servers.babble, servers.cut_short], ids=lambda act: act.__name__
)
def test_broken_server(receiver: Receiver, act: servers.Act) -> None:
    """A server that breaks the protocol is tried again later."""
    receiver.act = act
    with pytest.raises(CloudUnavailableError, match="does not answer properly"):
        run(receiver)


def test_huge_answer(receiver: Receiver) -> None:
    """An answer without an end is left after a few kilobytes."""
    receiver.act = servers.flood
    with pytest.raises(DriverContractError, match="larger than"):
        run(receiver)


def test_nobody_listens(receiver: Receiver) -> None:
    """A target where nobody listens is tried again later."""
    with receiving() as gone:
        pass
    with pytest.raises(CloudUnavailableError):
        run(gone)


def test_target_is_checked_again_at_each_call(receiver: Receiver) -> None:
    """A target that is allowed no longer is not called, whatever was declared."""
    hook = WebhookHook(a_declaration(url=receiver.url))
    with pytest.raises(InvalidRequestError, match="not allowed"):
        hook.run(an_event(outbound=GuardedOutbound(Targets(()))))
    assert receiver.received == []


@pytest.mark.parametrize("missing", ["secret", "outbound"])
def test_never_unsigned(receiver: Receiver, missing: str) -> None:
    """Without a secret nothing is sent."""
    hook = WebhookHook(a_declaration(url=receiver.url))
    event = event_for(receiver, **{missing: None}) if missing == "secret" else an_event()
    with pytest.raises(ConfigurationError):
        hook.run(event)
    assert receiver.received == []


def test_echo_of_the_callback_is_blotted_out(receiver: Receiver) -> None:
    """A server that sends the callback's URL back does not get it into the record."""
    receiver.answer = {"reason": f"see {CALLBACK}"}
    assert CALLBACK not in run(receiver).message
    receiver.answer = {"allow": False, "reason": f"see {CALLBACK}\n\x1b[31m" + "x" * 5000}
    with pytest.raises(HookRejectedError) as caught:
        run(receiver)
    assert CALLBACK not in caught.value.message
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 1100


@pytest.mark.parametrize("status", [200, 302, 403, 404, 429, 500])
def test_no_error_shows_a_secret(receiver: Receiver, status: int) -> None:
    """Whatever goes wrong, neither secret nor path of the URL is in the message."""
    receiver.status, receiver.answer = status, b"nonsense"
    receiver.url = f"{receiver.url}/very-secret-path"
    hook = WebhookHook(a_declaration(url=receiver.url))
    origin = "/".join(receiver.url.split("/")[:3])
    with pytest.raises(JeroboamError) as caught:
        hook.run(an_event(outbound=GuardedOutbound(Targets([origin]))))
    assert "very-secret-path" not in str(caught.value)
    assert SECRET not in str(caught.value)
