"""The state machine of clusters has no dead end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.models import OperationKind, OperationState, Status
from jeroboam.models.lifecycle import (
    SETTLED,
    TRAITS,
    USABLE,
    Ending,
    OnCancel,
    Words,
    cancel_words,
    may_retry,
    refusal,
    status_after,
)

MAGNUM = {
    f"{what}_{how}"
    for what in ("CREATE", "UPDATE", "DELETE", "ROLLBACK")
    for how in ("IN_PROGRESS", "COMPLETE", "FAILED")
}
"""The words of Magnum 22's ``ClusterStatus`` that its conductor sets."""

GONE = None
REFUSED = None
"""The ending of an operation that never touched anything: the status is what it was."""

Step = tuple[OperationKind, Ending]
kinds = st.sampled_from(OperationKind)
endings = st.sampled_from(Ending)


def words_of(kind: OperationKind) -> tuple[Words, ...]:
    traits = TRAITS[kind]
    return tuple(words for words in (traits.cluster, traits.group) if words)


def possible(kind: OperationKind) -> list[Ending | None]:
    """How an operation can end: only one that undoes something can be rolled back."""
    if kind is OperationKind.CREATE:
        return list(Ending)
    if TRAITS[kind].on_cancel is OnCancel.ROLL_BACK:
        return [*Ending, REFUSED]
    return [Ending.COMPLETE, Ending.FAILED, REFUSED]


def after(status: Status, kind: OperationKind, ending: Ending | None) -> Status | None:
    """The cluster's status when an operation has ended; ``GONE`` if that removed it."""
    words = TRAITS[kind].cluster
    if words is None or ending is REFUSED:
        return status
    if kind.deletes and ending is Ending.COMPLETE:
        return GONE
    return status_after(words, ending)


def choices(status: Status, last: OperationKind) -> list[OperationKind]:
    """What a user can do: whatever may start, and a retry of what failed last."""
    fresh = [kind for kind in OperationKind if refusal(kind, status) is None]
    return [*fresh, last] if status.failed else fresh


@given(st.lists(st.tuples(st.integers(min_value=0), st.integers(min_value=0)), max_size=30))
def test_no_walk_ends_in_a_dead_end(walk: list[tuple[int, int]]) -> None:
    """Wherever operations that end anyhow lead, good and bad, there is a way on that is good.

    One operation that succeeds leads to a ``*_COMPLETE`` status, and another removes the cluster.
    """
    status: Status | None = Status.CREATE_IN_PROGRESS
    last = OperationKind.CREATE
    for choice, luck in [(0, 0), *walk]:
        assert status is not GONE
        if status is not Status.CREATE_IN_PROGRESS:
            allowed = choices(status, last)
            last = allowed[choice % len(allowed)]
        ending = possible(last)[luck % len(possible(last))]
        status = after(status, last, ending)
        if status is GONE:
            return
        ways = {after(status, kind, Ending.COMPLETE) for kind in choices(status, last)}
        assert GONE in ways
        assert (
            status.endswith("_COMPLETE")
            or status is Status.DELETE_FAILED
            or any(way and way.endswith("_COMPLETE") for way in ways)
        )


@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize("kind", [OperationKind.DELETE, OperationKind.FORCE_DELETE])
def test_a_delete_may_start_from_everywhere(kind: OperationKind, status: Status) -> None:
    """No status keeps a cluster from being deleted, not even that of an operation at work."""
    assert refusal(kind, status) is None


@pytest.mark.parametrize("status", [status for status in Status if status.in_progress])
@given(kind=kinds.filter(lambda kind: not kind.deletes))
def test_nothing_else_starts_beside_an_operation(kind: OperationKind, status: Status) -> None:
    """While an operation is at work only a delete is accepted; the refusal says what to do."""
    assert "delete the cluster" in (refusal(kind, status) or "")


@pytest.mark.parametrize("status", [Status.UPDATE_FAILED, Status.ROLLBACK_FAILED])
@given(kind=kinds.filter(lambda kind: kind is not OperationKind.CREATE))
def test_a_failed_change_blocks_nothing(kind: OperationKind, status: Status) -> None:
    """After a failed update or roll-back every other operation may start."""
    assert refusal(kind, status) is None


@given(kinds, st.sampled_from(Status))
def test_a_refusal_says_what_is_and_what_to_do(kind: OperationKind, status: Status) -> None:
    """A refusal names the status and a way out; none is given where the operation may start."""
    said = refusal(kind, status)
    assert (said is None) is (status in TRAITS[kind].allowed_from)
    if said is not None and kind is not OperationKind.CREATE:
        assert status in said
        assert "delet" in said.lower()


def test_a_cluster_that_was_never_complete_has_its_health_checked() -> None:
    """A check changes nothing, so it may start from every status that has settled."""
    assert all(refusal(OperationKind.CHECK_HEALTH, status) is None for status in SETTLED)
    assert TRAITS[OperationKind.CHECK_HEALTH].cluster is None


def test_status_words_are_magnums() -> None:
    """No client meets a word that Magnum does not have."""
    assert set(Status) == MAGNUM
    used = {
        word for kind in OperationKind for words in words_of(kind) for word in vars(words).values()
    }
    assert used <= MAGNUM


@pytest.mark.parametrize("kind", list(OperationKind))
def test_words_say_whether_the_operation_is_at_work(kind: OperationKind) -> None:
    """In progress while it works or goes back, and settled however it ends."""
    for words in words_of(kind):
        assert words.in_progress.in_progress
        assert words.rolling_back.in_progress
        assert words.complete.endswith("_COMPLETE")
        assert words.failed.failed
        assert words.roll_back_failed.failed
        assert all(not status_after(words, ending).in_progress for ending in Ending)


@pytest.mark.parametrize("kind", list(OperationKind))
def test_every_kind_is_in_the_machine(kind: OperationKind) -> None:
    """Each kind has its traits, and a cancellation of it is answered with words."""
    traits = TRAITS[kind]
    assert cancel_words(kind)
    waits = traits.on_cancel is OnCancel.STOP
    assert (cancel_words(kind, now=True) != cancel_words(kind)) is waits
    assert not traits.rolls_back or traits.on_cancel is OnCancel.ROLL_BACK


@pytest.mark.parametrize("kind", list(OperationKind))
def test_only_a_create_cannot_be_asked_for_again(kind: OperationKind) -> None:
    """A cluster is created once: its creation can be retried and not be started anew."""
    startable = [status for status in Status if refusal(kind, status) is None]
    assert bool(startable) is (kind is not OperationKind.CREATE)


def test_a_usable_cluster_was_built_and_stays() -> None:
    """Usable are the statuses of clusters that were complete once and are not being removed."""
    assert {status for status in SETTLED if status not in USABLE} == {
        Status.CREATE_FAILED,
        Status.DELETE_FAILED,
        Status.DELETE_COMPLETE,
    }


@pytest.mark.parametrize("state", list(OperationState))
def test_what_failed_or_was_cancelled_can_be_retried(state: OperationState) -> None:
    """A retry takes up what ended badly, and nothing that is at work, went well or never ran."""
    expected = state in {OperationState.FAILED, OperationState.CANCELLED}
    assert may_retry(state) is expected
    assert not (may_retry(state) and state.active)


@given(endings)
def test_each_ending_of_a_change_has_a_status_of_its_own(ending: Ending) -> None:
    """A client can tell done, failed, rolled back and stuck halfway from each other."""
    words = TRAITS[OperationKind.UPGRADE].cluster
    assert words
    found = [one for one in Ending if status_after(words, one) is status_after(words, ending)]
    assert found == [ending]
