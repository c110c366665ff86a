"""States are reused where they can be, and corrected where they have to be."""

import json
import sqlite3
from pathlib import Path

import pytest

from devcloud import install, state
from devcloud.layout import Layout, Settings
from devcloud.state import Ready

QUICK = ("keystone", "glance", "heat")


def layout(home: Path, venv: Path, port_base: int = 15000) -> Layout:
    return Layout(home, venv, Settings(port_base=port_base, services="quick"))


def fill(made: Layout) -> None:
    """Put what a first start leaves behind into a home."""
    made.state.mkdir(parents=True)
    tables = {
        "keystone": ("endpoint", "url", made.endpoint("heat")),
        "glance": ("image_locations", "value", f"file://{made.state}/images/store/1"),
    }
    for name, (table, column, value) in tables.items():
        connection = sqlite3.connect(made.database(name))
        with connection:
            connection.execute(f"CREATE TABLE {table} ({column} TEXT)")
            connection.execute(f"INSERT INTO {table} VALUES (?)", (value,))
        connection.close()
    state.mark_complete(made)


def value(made: Layout, database: str, query: str) -> str:
    connection = sqlite3.connect(made.database(database))
    try:
        (found,) = connection.execute(query).fetchone()
    finally:
        connection.close()
    return str(found)


@pytest.fixture
def steps() -> list[str]:
    return []


def test_a_new_home_starts_from_the_template(tmp_path: Path, steps: list[str]) -> None:
    """Paths and ports in the databases are those of the new home."""
    first = layout(tmp_path / "first", tmp_path / "venv")
    fill(first)
    state.keep_template(first)
    second = layout(tmp_path / "second", tmp_path / "venv", 16000)
    state.prepare(second, steps.append)
    assert state.is_complete(second)
    assert value(second, "keystone", "SELECT url FROM endpoint") == second.endpoint("heat")
    location = value(second, "glance", "SELECT value FROM image_locations")
    assert location == f"file://{second.state}/images/store/1"


def test_an_incomplete_state_is_thrown_away(tmp_path: Path, steps: list[str]) -> None:
    """What an interrupted first start has left does no harm."""
    made = layout(tmp_path / "home", tmp_path / "venv")
    made.state.mkdir(parents=True)
    made.database("keystone").write_text("half")
    state.prepare(made, steps.append)
    assert not state.is_complete(made)
    assert not made.database("keystone").exists()


def test_a_state_of_other_versions_is_put_aside(
    tmp_path: Path, steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Databases are not opened by services that they were not made for."""
    made = layout(tmp_path / "home", tmp_path / "venv")
    fill(made)
    monkeypatch.setattr(install, "lock_digest", lambda: "another")
    state.prepare(made, steps.append)
    assert not state.is_complete(made)
    assert (tmp_path / "home" / "state.old" / "keystone.sqlite").exists()
    assert "state.old" in steps[0]


def test_ports_of_a_home_can_change(tmp_path: Path, steps: list[str]) -> None:
    """The catalogue follows."""
    fill(layout(tmp_path / "home", tmp_path / "venv"))
    moved = layout(tmp_path / "home", tmp_path / "venv", 20000)
    state.prepare(moved, steps.append)
    assert value(moved, "keystone", "SELECT url FROM endpoint") == moved.endpoint("heat")
    assert Ready.load(moved.state) == Ready(str(moved.home), 20000, QUICK)


@pytest.mark.parametrize("change", [{"seed": "another"}, {}], ids=["another", "none"])
def test_what_another_seed_filled_is_filled_again(
    tmp_path: Path, steps: list[str], change: dict[str, str]
) -> None:
    """The state is kept, also one made before seeds were noted; it lacks contents."""
    made = layout(tmp_path / "home", tmp_path / "venv")
    fill(made)
    marker = made.state / state.READY
    stored = json.loads(marker.read_text())
    del stored["seed"]
    marker.write_text(json.dumps(stored | change))
    moved = layout(tmp_path / "home", tmp_path / "venv", 20000)
    state.prepare(moved, steps.append)
    assert not state.is_complete(moved)
    assert value(moved, "keystone", "SELECT url FROM endpoint") == moved.endpoint("heat")
    state.mark_complete(moved)
    assert state.is_complete(moved)


def test_templates_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those of the last few versions are kept."""
    made = layout(tmp_path / "home", tmp_path / "venv")
    fill(made)
    for number in range(state.TEMPLATES_KEPT + 2):
        digest = f"version-{number}"
        monkeypatch.setattr(install, "lock_digest", lambda digest=digest: digest)
        state.keep_template(made)
    assert len(list((tmp_path / "venv" / "templates").iterdir())) == state.TEMPLATES_KEPT
