"""The note at a server and Nova's log tell together whether a call has arrived."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.heat import node_notes
from jeroboam.drivers.heat.node_notes import Note, SignalNote

KEYS = st.text(min_size=1, max_size=200)


def action(kind: str = "reboot", start: int = 0, **fields: Any) -> dict[str, Any]:
    return {"action": kind, "start_time": f"2026-01-02T12:00:{start:02}", "message": None, **fields}


@given(KEYS, st.integers(0, 50), st.integers(0, 3))
def test_call_is_known_by_its_note(key: str, before: int, more: int) -> None:
    """A call has arrived if its note is there and the log has grown since; else it has not."""
    note = Note.read(Note(node_notes.digest(key), before).written())
    log = [action(start=number % 60) for number in range(before + more)]
    found = node_notes.arrived(note, key, log)
    assert (found is not None) == (more > 0)
    assert node_notes.arrived(note, f"{key}x", log) is None
    assert node_notes.arrived(None, key, log) is None


@given(st.dictionaries(st.text(), st.text(max_size=300)))
def test_strange_metadata(metadata: dict[str, str]) -> None:
    """Metadata of others are no notes."""
    assert Note.read(metadata) is None
    assert SignalNote.read(metadata) is None


@pytest.mark.parametrize("text", ["", ":", "key:", ":3", "key:x", "key:-1", "key"])
def test_damaged_note(text: str) -> None:
    """A note that cannot be read is none."""
    assert Note.read({node_notes.CALL: text}) is None


@given(KEYS)
def test_notes_fit_into_metadata(key: str) -> None:
    """A note is short enough for Nova, whatever the key."""
    stack, resource = "5d656e84-122e-4e99-883f-5d5adbb20569", "ready_handle_b"
    note = SignalNote(stack, resource, node_notes.seen({key: key}))
    for written in (Note(node_notes.digest(key), 10**6).written(), note.written()):
        assert all(len(value) <= 255 for value in written.values())
    assert SignalNote.read(note.written()) == note


def test_a_new_report_is_seen() -> None:
    """A node that reports after another boot is told from the one before."""
    first = {"node": {"status": "SUCCESS", "reason": "", "data": "boot 1"}}
    second = {"node": {"status": "SUCCESS", "reason": "", "data": "boot 2"}}
    assert node_notes.seen(first) == node_notes.seen(dict(first))
    assert len({node_notes.seen(one) for one in ({}, first, second)}) == 3


def test_log_is_read_by_kind_and_time() -> None:
    """Other actions do not count, and Nova's order does not matter."""
    log = [action(start=5), action("stop", 4), action(start=1)]
    found = node_notes.of_kind(log, "reboot")
    assert [one["start_time"][-2:] for one in found] == ["01", "05"]


@pytest.mark.parametrize(
    ("fields", "failed", "ended"),
    [
        ({}, False, True),
        ({"message": "Error"}, True, True),
        ({"events": [{"result": "Error", "finish_time": "x"}]}, True, True),
        ({"events": [{"result": None, "finish_time": None}]}, False, False),
        ({"events": [{"result": "Success", "finish_time": "x"}]}, False, True),
    ],
)
def test_end_of_an_action(fields: dict[str, Any], *, failed: bool, ended: bool) -> None:
    """An action has failed if Nova or one of its events says so, and ended with all events."""
    assert node_notes.failed(action(**fields)) is failed
    assert node_notes.ended(action(**fields)) is ended


@pytest.mark.parametrize(
    ("finish_time", "server", "broken_off"),
    [
        (None, {}, True),
        (None, {"updated_at": "2026-01-02T12:00:00"}, True),
        (None, {"updated_at": "2026-01-02T12:09:30Z"}, False),
        (None, {"task_state": "rebooting"}, False),
        (None, {"updated_at": None}, False),
        ("2026-01-02T12:00:00", {}, False),
    ],
)
def test_action_that_nobody_ends(
    finish_time: str | None, server: dict[str, str | None], *, broken_off: bool
) -> None:
    """An action is lost when Nova has let go of the server for a minute without its end."""
    now = datetime(2026, 1, 2, 12, 10, tzinfo=UTC)
    told = {"task_state": None, "updated_at": "2026-01-02T12:00:00Z", **server}
    found = action(events=[{"result": None, "finish_time": finish_time}])
    assert node_notes.broken_off(found, SimpleNamespace(**told), now) is broken_off
