"""Small parts of hooks: callbacks, labels, signatures, words for the record."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.errors import DriverContractError, InvalidRequestError
from jeroboam.hooks import labels, signing
from jeroboam.hooks.answers import LONGEST_REASON, one_line, without
from jeroboam.hooks.callbacks import Callbacks
from jeroboam.models import HookPhase, Operation, OperationKind, Parameters
from jeroboam.models.hook import without_secrets
from jeroboam.models.plans import Hooks, build_plan
from jeroboam.models.wire import HookAnswer
from tests.unit.hooks.hooks import SECRET, a_declaration, an_event
from tests.unit.hooks.test_catalogue import chosen
from tests.unit.specs import make_spec

CALLBACKS = Callbacks(bytes(32), "https://jeroboam.example/")


def an_operation(hooks: Hooks) -> Operation:
    spec = make_spec()
    return Operation(
        kind=OperationKind.CREATE,
        cluster_id=spec.cluster.uuid,
        cluster_name="demo",
        project_id="p1",
        user_id="u1",
        request_id="req",
        plan=build_plan(OperationKind.CREATE, spec, spec, Parameters(), hooks=hooks),
    )


def token_of(url: str) -> str:
    return url.rpartition("/")[2]


def test_token_is_for_one_step_of_one_operation() -> None:
    """A token opens its own step, and nothing else."""
    operation = an_operation(chosen(a_declaration("one"), a_declaration("two")))
    assert operation.plan
    steps = [step for step in operation.plan.steps if step.hook]
    assert len(steps) == 2
    for step in steps:
        url = CALLBACKS.url(operation.uuid, step.name)
        assert url.startswith(f"https://jeroboam.example/v1/operations/{operation.uuid}/hooks/")
        assert CALLBACKS.step(operation, token_of(url)) == step
    other = token_of(CALLBACKS.url("other", steps[0].name))
    stranger = token_of(Callbacks(b"x" * 32, "").url(operation.uuid, steps[0].name))
    certificates = token_of(CALLBACKS.url(operation.uuid, "Issue certificates"))
    for token in (other, stranger, certificates, "", "\N{SNOWMAN}", "\ud800"):
        assert CALLBACKS.step(operation, token) is None


def test_failure_hooks_can_answer_too() -> None:
    """The token of a hook that runs on failure is known as well; without a plan none is."""
    operation = an_operation(chosen(a_declaration(phases=(HookPhase.FAILURE,))))
    assert operation.plan
    (step,) = operation.plan.on_failure
    token = token_of(CALLBACKS.url(operation.uuid, step.name))
    assert CALLBACKS.step(operation, token) == step
    assert CALLBACKS.step(operation.model_copy(update={"plan": None}), token) is None


def test_key_is_not_shown() -> None:
    """The key of the callbacks is in no text form."""
    assert "secret-key" not in repr(Callbacks(b"secret-key", ""))


LABELS = st.dictionaries(st.sampled_from("abcdef"), st.text(max_size=3))


@given(LABELS, LABELS)
def test_labels_are_added_and_never_replaced(mine: dict[str, str], wanted: dict[str, str]) -> None:
    """A hook's labels fill what is not set; the user's stay; the remark names all."""
    spec = make_spec(labels=mine)
    taken = labels.added(FakeDriver(), spec, OperationKind.CREATE, HookPhase.BEFORE, wanted)
    assert {**wanted, **mine} == {**mine, **taken}
    assert not taken.keys() & mine.keys()
    text = labels.remark(wanted, taken)
    assert all(name in text for name in wanted)


@given(st.sampled_from(OperationKind), st.sampled_from(HookPhase), LABELS)
def test_labels_count_before_a_create_only(
    kind: OperationKind, phase: HookPhase, wanted: dict[str, str]
) -> None:
    """Elsewhere labels are not taken."""
    counts = (kind, phase) == (OperationKind.CREATE, HookPhase.BEFORE)
    assert labels.added(FakeDriver(), make_spec(), kind, phase, wanted) == (
        wanted if counts else {}
    )


def test_driver_checks_labels() -> None:
    """Labels that the driver refuses are the hook's fault, and the message has the reason."""
    with pytest.raises(DriverContractError, match="driver refuses: Label 'fake_create_seconds'"):
        labels.added(
            FakeDriver(),
            make_spec(),
            OperationKind.CREATE,
            HookPhase.BEFORE,
            {"fake_create_seconds": "soon"},
        )


@pytest.mark.parametrize("secret", [SECRET, f"{SECRET} {SECRET}", f"whsec_{'A' * 32}"])
def test_good_secret(secret: str) -> None:
    """A signing secret, or two while it is changed."""
    signing.check_secret(secret)
    assert len(signing.signed_headers(secret, "id", b"{}")["webhook-signature"].split()) == len(
        secret.split()
    )


@pytest.mark.parametrize(
    "secret", [None, "", " ", "tell-nobody", "whsec_", "whsec_****", f"whsec_{'A' * 28}",
               f"whsec_{'A' * 100}", f"{SECRET} tell-nobody"],
)  # fmt: skip
def test_bad_secret(secret: str | None) -> None:
    """What is no signing secret is refused with the way to make one, and is not quoted."""
    with pytest.raises(InvalidRequestError, match="openssl rand") as caught:
        signing.check_secret(secret)
    assert "tell-nobody" not in caught.value.message


def test_vector_of_the_specification() -> None:
    """The signature of a known message is the published one."""
    headers = signing.signed_headers(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        b'{"test": 2432232314}',
        datetime.fromtimestamp(1614265330, UTC),
    )
    signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert headers["webhook-signature"] == signature
    assert headers["webhook-timestamp"] == "1614265330"
    assert headers["webhook-id"] == "msg_p5jXN8AQM9LWM0D4loKWxJek"


@given(st.text())
def test_words_for_the_record(text: str) -> None:
    """Whatever a hook says becomes one printable line of bounded length."""
    line = one_line(text)
    assert line.isprintable()
    assert len(line) <= LONGEST_REASON


@given(st.text(), st.text(min_size=4, max_size=8))
def test_secret_is_blotted_out(text: str, secret: str) -> None:
    """A secret is in no text that is shown."""
    assert secret in f"{text}{secret}"
    assert without(f"a{secret}b", [secret]) == "a***b"


def test_labels_that_seem_secret() -> None:
    """Labels whose names look secret are sent without their values."""
    given = {"registry_password": "x", "API_KEY": "x", "token": "x", "colour": "red"}
    assert without_secrets(given) == {
        "registry_password": "***", "API_KEY": "***", "token": "***", "colour": "red",
    }  # fmt: skip


def test_event_shows_no_secret() -> None:
    """Neither the secret nor the callback's URL is in an event's text form."""
    event = an_event()
    assert SECRET not in repr(event)
    assert str(event.callback_url) not in repr(event)
    assert HookAnswer(step="s", ok=True).labels == {}
