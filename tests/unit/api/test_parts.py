"""Small pure parts: cache, names, error bodies, progress sentences, template rules."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam import errors as product_errors
from jeroboam.api.http import errors, names, progress, template_rules
from jeroboam.api.http.directory import Flavor
from jeroboam.api.http.token_cache import TokenCache
from jeroboam.errors import InvalidRequestError, JeroboamError
from jeroboam.models import (
    ClusterTemplate,
    Operation,
    OperationKind,
    OperationState,
    StepNote,
    StepRecord,
    StepState,
)


class Clock:
    """Time that a test turns."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_cache_forgets_after_its_lifetime() -> None:
    """A validation is believed for the lifetime and not a moment longer."""
    clock = Clock()
    cache = TokenCache(60, clock=clock)
    cache.set("k", b"v", time=300)
    clock.now += 59
    assert cache.get("k") == b"v"
    clock.now += 1
    assert cache.get("k") is None


def test_the_cache_is_bounded() -> None:
    """When it is full, the entry that was unused for longest goes."""
    cache = TokenCache(60, capacity=2)
    cache.set("a", b"1")
    cache.set("b", b"2")
    cache.get("a")
    cache.set("c", b"3")
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (b"1", None, b"3")


def test_a_lifetime_of_zero_caches_nothing() -> None:
    """An operator can turn the cache off."""
    cache = TokenCache(0)
    cache.set("a", b"1")
    assert cache.get("a") is None


def test_generated_names_are_valid_names() -> None:
    """A generated name is a Greek letter, a number and the kind."""
    for _ in range(50):
        assert re.fullmatch(r"[a-z]+-([1-9]|1\d|2[0-4])-cluster", names.generate("cluster"))


def test_the_title_is_the_first_sentence() -> None:
    """The title ends at the first full stop, but not at one within a name."""
    body = errors.error_body(400, "Unable to find flavor m1.small. Choose another.")
    assert body["errors"] == [
        {
            "request_id": "",
            "code": "client",
            "status": 400,
            "title": "Unable to find flavor m1.small",
            "detail": "Unable to find flavor m1.small. Choose another.",
            "links": [],
        }
    ]


def test_every_error_class_has_a_status() -> None:
    """Each of the product's errors maps to a status; none to success."""
    classes = [
        kind
        for kind in vars(product_errors).values()
        if isinstance(kind, type) and issubclass(kind, JeroboamError)
    ]
    for kind in classes:
        assert 400 <= errors.status_of(kind.__new__(kind)) < 600
    assert errors.status_of(product_errors.RateLimitedError("slow down")) == 503
    assert errors.status_of(product_errors.OperationInProgressError("o", "create", None)) == 409


def operation(state: OperationState, *steps: tuple[str, StepState]) -> Operation:
    return Operation(
        kind=OperationKind.CREATE,
        cluster_id="c",
        cluster_name="mine",
        project_id="p",
        user_id="u",
        request_id="req-1",
        state=state,
        steps=tuple(StepRecord(name=name, state=step) for name, step in steps),
    )


def note(step: str, message: str, attempt: int = 1, age: int = 0) -> StepNote:
    at = datetime(2026, 1, 1, tzinfo=UTC) - timedelta(seconds=age)
    return StepNote(operation_id="o", step=step, attempt=attempt, message=message, noted_at=at)


def test_progress_names_the_step_the_attempt_and_the_newest_note() -> None:
    """The sentence is about the running step; notes of finished steps do not count."""
    running = operation(
        OperationState.RUNNING,
        ("Issue certificates", StepState.SUCCEEDED),
        ("Wait for the backend", StepState.RUNNING),
    )
    notes = [
        note("Wait for the backend", "older", 2, age=5),
        note("Wait for the backend", "Heat does not answer: connection refused", 3),
        note("Issue certificates", "done", age=1),
    ]
    assert progress.sentence(running, notes) == (
        "create: Wait for the backend (attempt 3): Heat does not answer: connection refused"
    )


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (OperationState.PENDING, "create: accepted, waits for a worker"),
        (OperationState.RUNNING, "create: Wait"),
        (OperationState.COMPENSATING, "create: undoing, Wait"),
    ],
)
def test_progress_without_notes(state: OperationState, expected: str) -> None:
    """Without a note the state and the step are told."""
    assert progress.sentence(operation(state, ("Wait", StepState.RUNNING)), []) == expected


def test_progress_between_two_steps_tells_the_newest_note() -> None:
    """When no step is marked as running, the newest note says where it was."""
    running = operation(OperationState.RUNNING, ("Wait", StepState.SUCCEEDED))
    assert progress.sentence(running, []) == "create: between two steps"
    assert progress.sentence(running, [note("Wait", "fine")]) == "create: Wait: fine"


def template(**attributes: object) -> ClusterTemplate:
    given_ = {"name": "t", "project_id": "p", "user_id": "u", "coe": "kubernetes", "image_id": "i"}
    return ClusterTemplate.model_validate(given_ | attributes)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"network_driver": "docker"}, "Network driver type docker is not supported"),
        ({"volume_driver": "rexray"}, "Volume driver type rexray is not supported"),
        ({"docker_storage_driver": "devicemapper"}, "docker volume size None GB is not valid"),
    ],
)
def test_impossible_templates_are_refused(attributes: dict[str, object], message: str) -> None:
    """Combinations that cannot work are refused with what would be right."""
    with pytest.raises(InvalidRequestError, match=message):
        template_rules.check(template(**attributes))


def test_unknown_engines_bring_their_own_rules() -> None:
    """A third-party driver's engine is not measured with Magnum's lists."""
    template_rules.check(template(coe="nomad", network_driver="anything", volume_driver="any"))
    assert template_rules.default_network_driver("nomad") is None
    assert template_rules.default_network_driver("kubernetes") == "flannel"


def test_flavors_without_a_disk_need_a_boot_volume() -> None:
    """A flavor with no root disk needs the label that makes nodes boot from a volume."""
    diskless = Flavor(id="1", name="diskless", disk=0)
    with pytest.raises(InvalidRequestError, match="no root disk"):
        template_rules.check_root_disk(diskless, {})
    with pytest.raises(InvalidRequestError, match="must be a number"):
        template_rules.check_root_disk(diskless, {"boot_volume_size": "ten"})
    template_rules.check_root_disk(diskless, {"boot_volume_size": "10"})


@given(st.text())
def test_titles_begin_the_message(message: str) -> None:
    """A title is always how the message begins."""
    title = errors.error_body(500, message)["errors"][0]["title"]
    assert message.startswith(title)
