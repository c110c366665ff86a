"""Runs of playbooks, as their folders tell of them.

A run is a folder named after cluster and call. While it is at work, its process holds a lock on a
file in it, so that whoever sees the folder knows, whatever became of the worker that started it.
What holds secrets is in the sub-folder ``private`` and goes when the run ends.
"""

import contextlib
import fcntl
import json
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SETTING = "JEROBOAM_ANSIBLE_FOLDER"
"""Environment variable with the folder of all runs; workers on several hosts share it."""

_DEFAULT = Path("~/.local/state/jeroboam/ansible")
_PRIVATE = 0o700
_PATIENCE_SECONDS, _PAUSE_SECONDS = 0.5, 0.05


def root() -> Path:
    """Return the folder of all runs."""
    return Path(os.environ.get(SETTING) or _DEFAULT).expanduser()


@dataclass(frozen=True)
class Run:
    """One run.

    Args:
        cluster: uuid of the cluster.
        key: Digest of the call.
    """

    cluster: str
    key: str

    @property
    def folder(self) -> Path:
        """Where everything of the run is."""
        return root() / self.cluster / self.key

    @property
    def private(self) -> Path:
        """Where the playbooks, their input and the credentials are while the run is at work."""
        return self.folder / "private"

    @property
    def lock(self) -> Path:
        """What the run's process holds a lock on."""
        return self.folder / "lock"

    @property
    def started(self) -> Mapping[str, Any]:
        """What was noted when it was started; nothing if it never was."""
        return _read(self.folder / "run.json")

    @property
    def status(self) -> Mapping[str, Any]:
        """How it ended; nothing if it has not."""
        return _read(self.folder / "status.json")

    @property
    def progress(self) -> str:
        """What it is at, in a few words."""
        return str(_read(self.folder / "progress.json").get("message") or "Ansible runs")

    @property
    def succeeded(self) -> bool:
        """Whether it has ended well."""
        return bool(self.status.get("succeeded"))

    def prepare(self) -> None:
        """Make the folder anew, without anything that an earlier attempt has left but the lock."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
        shutil.rmtree(self.private, ignore_errors=True)
        for name in ("run.json", "status.json", "progress.json"):
            (self.folder / name).unlink(missing_ok=True)
        self.private.mkdir(mode=_PRIVATE)

    def note(self, name: str, record: Mapping[str, Any]) -> None:
        """Write one of the run's records in one step."""
        write(self.folder / f"{name}.json", json.dumps(dict(record)))

    def clean(self) -> None:
        """Remove what holds secrets."""
        shutil.rmtree(self.private, ignore_errors=True)

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextlib.contextmanager
    def held(self) -> Iterator[int | None]:
        """Take the lock for as long as the block, or as a child process that inherits it, lives.

        Yields:
            The lock's file descriptor, or ``None`` if the run is at work.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
        descriptor = os.open(self.lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            # Whoever asks ``at_work`` holds the lock for a moment, too.
            deadline = time.monotonic() + _PATIENCE_SECONDS
            while not (taken := _lock(descriptor, fcntl.LOCK_EX)) and time.monotonic() < deadline:
                time.sleep(_PAUSE_SECONDS)
            yield descriptor if taken else None
        finally:
            os.close(descriptor)

    def at_work(self) -> bool:
        """Tell whether its process lives."""
        try:
            descriptor = os.open(self.lock, os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            return not _lock(descriptor, fcntl.LOCK_SH)
        finally:
            os.close(descriptor)


def _lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def of_cluster(cluster: str) -> list[Run]:
    """Return all runs that are known of a cluster."""
    folder = root() / cluster
    if not folder.is_dir():
        return []
    return [Run(cluster, one.name) for one in sorted(folder.iterdir()) if one.is_dir()]


def here() -> str:
    """Return the name of this host."""
    return socket.gethostname()


def write(path: Path, text: str) -> None:
    """Write a file in one step, readable by its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    Path(temporary).replace(path)


def _read(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
