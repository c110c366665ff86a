"""The state of a devcloud: databases, keys and images, and copies of them.

A state that has just been filled is kept as a template beside the packages it was made by.
The next home that uses the same virtual environment starts from the copy, which takes a
second instead of a minute.
"""

import contextlib
import hashlib
import json
import shutil
import sqlite3
import tempfile
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from devcloud import catalogue, install
from devcloud.errors import DevcloudError
from devcloud.layout import Layout, write_private
from devcloud.progress import Report

READY = "ready.json"
TEMPLATES_KEPT = 4

SEED = ("inside/seed.py", "credentials.py", "catalogue.py")
"""What decides about the contents that a new cloud is filled with."""

# Columns that hold a path, per database: a copy in another place has to change them.
PATHS = (
    ("nova_api", "cell_mappings", "database_connection"),
    ("glance", "image_locations", "value"),
)


def seed_digest() -> str:
    """Return a short digest of what a cloud is filled by; after a change it is filled again."""
    digest = hashlib.sha256()
    for name in SEED:
        digest.update((Path(__file__).parent / name).read_bytes())
    return digest.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Ready:
    """What a complete state was filled for, and by what."""

    home: str
    port_base: int
    services: tuple[str, ...]
    lock: str = field(default_factory=install.lock_digest)
    seed: str = field(default_factory=seed_digest)

    @classmethod
    def load(cls, state: Path) -> "Ready | None":
        """Return the marker of a state, or None if the state is missing or incomplete."""
        try:
            stored = json.loads((state / READY).read_text(encoding="utf-8"))
            services = tuple(stored["services"])
            home, port_base, lock = stored["home"], stored["port_base"], stored["lock"]
            return cls(home, port_base, services, lock, stored.get("seed", ""))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, state: Path) -> None:
        """Mark a state as complete."""
        write_private(state / READY, json.dumps(asdict(self)) + "\n")


def is_complete(layout: Layout) -> bool:
    """Tell whether the state holds all that the chosen services need, and all contents."""
    ready = Ready.load(layout.state)
    return ready is not None and set(layout.services) <= set(_filled(ready))


def prepare(layout: Layout, report: Report) -> None:
    """Bring the state to where the services can start on it.

    An interrupted first start is thrown away, a template is used if there is one, and what
    depends on path or ports is corrected if they have changed.
    """
    ready = Ready.load(layout.state)
    if ready and ready.lock != install.lock_digest():
        old = layout.state.with_name("state.old")
        report(f"other versions of the services made the state; it is kept as {old}")
        shutil.rmtree(old, ignore_errors=True)
        layout.state.rename(old)
        ready = None
    if ready is None:
        shutil.rmtree(layout.state, ignore_errors=True)
        template = template_folder(layout)
        ready = Ready.load(template)
        if ready is None:
            (layout.state / "prepared").mkdir(parents=True)
            return
        copy(template, layout.state)
    _relocate(layout, ready)


def mark_complete(layout: Layout) -> None:
    """Record that all chosen services are prepared and filled."""
    for service in layout.services:
        layout.prepared(service).parent.mkdir(exist_ok=True)
        layout.prepared(service).touch()
    before = Ready.load(layout.state)
    services = set(layout.services) | set(_filled(before) if before else ())
    ordered = tuple(name for name in catalogue.SERVICES if name in services)
    Ready(str(layout.home), layout.settings.port_base, ordered).save(layout.state)


def _filled(ready: Ready) -> tuple[str, ...]:
    """Return the services whose contents are those of this version."""
    return ready.services if ready.seed == seed_digest() else ()


def keep_template(layout: Layout) -> None:
    """Keep the state, which has just been filled, for other homes."""
    folder = template_folder(layout)
    if folder.exists():
        return
    # A full disk or a read-only environment costs the next home its head start, no more, and
    # another home may have been quicker.
    with contextlib.suppress(DevcloudError, OSError, sqlite3.Error):
        copy(layout.state, folder)
        old = sorted(folder.parent.iterdir(), key=lambda f: f.stat().st_mtime, reverse=True)
        for outdated in old[TEMPLATES_KEPT:]:
            shutil.rmtree(outdated, ignore_errors=True)


def template_folder(layout: Layout) -> Path:
    """Return where the template for this code, these packages and this set belongs."""
    digest = hashlib.sha256(install.lock_digest().encode())
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    name = f"{layout.settings.services}-{digest.hexdigest()[:16]}"
    return layout.venv / "templates" / name


def copy(source: Path, target: Path) -> None:
    """Copy a state, which may be in use, to a new place; in one step for others to see.

    Raises:
        DevcloudError: If there is no room for it.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        for path in sorted(source.rglob("*")):
            place = temporary / path.relative_to(source)
            if path.is_dir():
                place.mkdir(exist_ok=True)
            elif path.suffix == ".sqlite":
                copy_database(path, place)
            elif not path.name.endswith(("-wal", "-shm")):
                with contextlib.suppress(FileNotFoundError):
                    shutil.copy2(path, place)
        temporary.rename(target)
    except OSError as error:
        raise DevcloudError(f"The state cannot be copied: {error}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def copy_database(source: Path, target: Path) -> None:
    """Copy an SQLite file as of this moment, whether or not it is in use."""
    with (
        contextlib.closing(sqlite3.connect(source)) as old,
        contextlib.closing(sqlite3.connect(target)) as new,
    ):
        old.backup(new)


def _relocate(layout: Layout, ready: Ready) -> None:
    """Correct paths and URLs in the databases of a state that was filled elsewhere."""
    if ready.home != str(layout.home):
        for database, table, column in PATHS:
            _replace(layout, database, table, column, f"{ready.home}/", f"{layout.home}/")
    if ready.port_base != layout.settings.port_base:
        for service in catalogue.everything().values():
            old = f"http://127.0.0.1:{ready.port_base + service.port_offset}"
            _replace(layout, "keystone", "endpoint", "url", old, layout.url(service.name))
    moved = replace(ready, home=str(layout.home), port_base=layout.settings.port_base)
    moved.save(layout.state)


def _replace(layout: Layout, database: str, table: str, column: str, old: str, new: str) -> None:
    path = layout.database(database)
    if not path.exists():
        return
    statement = f"UPDATE {table} SET {column} = replace({column}, ?, ?)"  # noqa: S608 - constants
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, (old, new))
