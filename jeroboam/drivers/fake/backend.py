"""The pretended backend: a directory with one JSON file for each cluster.

Any number of processes may use it at once. A file is changed under a lock and replaced as a whole,
so that a process may be killed at any point.
"""

import fcntl
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from zlib import crc32

from jeroboam.drivers.fake import changes, faults
from jeroboam.drivers.fake.cluster import FakeCluster
from jeroboam.drivers.fake.labels import CALL_OF_METHOD, FakeCall, Labels, parse
from jeroboam.drivers.fake.records import Change, Entry, Event, Work, WorkState
from jeroboam.errors import CloudUnavailableError, ConflictError
from jeroboam.models import Method, new_uuid

CLUSTER = "cluster"
"""Target of works on the whole cluster."""

LOCKS = 16


@dataclass(frozen=True)
class Request:
    """One call that begins work.

    Args:
        target: See ``Work.target``.
        plan: Returns what there is to change.
        batch: How many changes are made at a time.
    """

    uuid: str
    method: Method
    key: str
    labels: Labels
    target: str
    plan: Callable[[FakeCluster], list[Change]]
    batch: int | None = 1

    @property
    def call(self) -> FakeCall:
        """The call as labels name it."""
        return CALL_OF_METHOD[self.method]


class FakeBackend:
    """A directory of pretended clusters.

    ``<uuid>.json`` is a cluster of which something exists, ``removed/<uuid>.json`` what is known of
    one that is gone. While there is a file ``unreachable``, nothing here answers. Labels in
    ``faults/<uuid>.json`` hold instead of those of the cluster.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def behaviour(self, uuid: str, labels: Mapping[str, str]) -> Labels:
        """Return how to treat a cluster: as its labels say, or as a file says instead.

        Raises:
            InvalidRequestError: A label is not valid.
        """
        path = self._directory / "faults" / f"{uuid}.json"
        with suppress(FileNotFoundError):
            return parse({**labels, **json.loads(path.read_text())})
        return parse(labels)

    def read(self, uuid: str) -> FakeCluster:
        """Return what is known of a cluster, as it stands now.

        Raises:
            CloudUnavailableError: The backend is cut off.
        """
        self._check_reachable()
        cluster = self._load(uuid)
        if not cluster.due(time.time()):
            return cluster
        with self._changing(uuid) as changed:
            return changed

    def answer(self, uuid: str, call: FakeCall, key: str, labels: Labels) -> None:
        """Take a call, and misbehave as the labels ask.

        Raises:
            CloudUnavailableError: The backend does not answer.
        """
        self._check_reachable()
        with self._changing(uuid) as cluster:
            _note(cluster, Event.CALLED, call, key)
            silent = labels.fake_unavailable == call and _left(
                cluster, Event.UNAVAILABLE, call, labels.fake_unavailable_calls
            )
            slow = labels.fake_hang == call and _left(
                cluster, Event.HUNG, call, labels.fake_hang_calls
            )
            if silent or slow:
                _note(cluster, Event.UNAVAILABLE if silent else Event.HUNG, call, key)
        if silent:
            raise CloudUnavailableError("The fake backend does not answer, as its labels ask.")
        if slow:
            time.sleep(labels.fake_hang_seconds)

    def submit(self, request: Request) -> str:
        """Begin what a call asks for, or go on with it; return the backend id.

        Raises:
            CloudUnavailableError: The backend does not answer.
            ConflictError: The cluster is being deleted.
            RuntimeError: As a label asks, when the work has begun.
        """
        self.answer(request.uuid, request.call, request.key, request.labels)
        crashes = False
        with self._changing(request.uuid) as cluster:
            if _begins(cluster, request):
                self._begin(cluster, request)
            crashes = request.labels.fake_crash == request.call and _left(
                cluster, Event.CRASHED, request.call, request.labels.fake_crash_calls
            )
            if crashes:
                _note(cluster, Event.CRASHED, request.call, request.key)
        if crashes:
            raise RuntimeError("The fake driver crashes, as its labels ask.")
        return cluster.backend_id

    @staticmethod
    def _begin(cluster: FakeCluster, request: Request) -> None:
        now = time.time()
        work = Work(
            method=request.method, call=request.call, key=request.key, target=request.target
        )
        _overtake(cluster, work, now)
        known = any(
            entry.event is Event.BEGUN for entry in cluster.journal if entry.key == work.key
        )
        seconds = request.labels.seconds(request.call)
        work.ends = now + seconds
        work.changes = changes.schedule(request.plan(cluster), now, seconds, request.batch)
        faults.arrange(cluster, work, request.labels)
        cluster.works[work.target] = work
        cluster.submissions += 1
        cluster.write(Event.RESUMED if known else Event.BEGUN, work, now)
        if work.lied:
            cluster.write(Event.LIED, work, now)
        if request.method is Method.DELETE_CLUSTER and not cluster.leftovers:
            cluster.leftovers = [
                f"volume fake-volume-{number} ({new_uuid()})"
                for number in range(request.labels.fake_leftovers)
            ]

    def _check_reachable(self) -> None:
        if (self._directory / "unreachable").exists():
            raise CloudUnavailableError("The fake backend is cut off.")

    @contextmanager
    def _changing(self, uuid: str) -> Iterator[FakeCluster]:
        """Yield a cluster as it stands now; it is written when the block ends well."""
        locks = self._directory / "locks"
        locks.mkdir(parents=True, exist_ok=True)
        with (locks / str(crc32(uuid.encode()) % LOCKS)).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            cluster = self._load(uuid)
            cluster.advance(time.time())
            yield cluster
            self._save(cluster)

    def _load(self, uuid: str) -> FakeCluster:
        for path in (self._path(uuid), self._removed(uuid)):
            try:
                return FakeCluster.model_validate_json(path.read_text())
            except FileNotFoundError:
                continue
        return FakeCluster(uuid=uuid)

    def _save(self, cluster: FakeCluster) -> None:
        path = self._path(cluster.uuid) if cluster.exists else self._removed(cluster.uuid)
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", dir=path.parent, suffix=".new", delete=False) as file:
            file.write(cluster.model_dump_json())
        Path(file.name).replace(path)
        if not cluster.exists:
            self._path(cluster.uuid).unlink(missing_ok=True)

    def _path(self, uuid: str) -> Path:
        return self._directory / f"{uuid}.json"

    def _removed(self, uuid: str) -> Path:
        return self._directory / "removed" / f"{uuid}.json"


def _begins(cluster: FakeCluster, request: Request) -> bool:
    """Return whether a call has anything to begin."""
    removes = request.method is Method.DELETE_CLUSTER
    if cluster.goes_away and not removes:
        raise ConflictError("The fake cluster is being deleted.")
    if removes and not cluster.exists:
        return False
    last = cluster.works.get(request.target)
    if last is None or (last.key, last.method) != (request.key, request.method) or last.lied:
        return True
    if last.state in {WorkState.RUNNING, WorkState.DONE}:
        cluster.write(Event.REPEATED, last, time.time())
        return False
    return True


def _overtake(cluster: FakeCluster, work: Work, now: float) -> None:
    for other in cluster.works.values():
        overtaken = other.target == work.target or work.method is Method.DELETE_CLUSTER
        if overtaken and other.state is WorkState.RUNNING:
            other.state = WorkState.OVERTAKEN
            cluster.write(Event.OVERTAKEN, other, now)


def _left(cluster: FakeCluster, event: Event, call: FakeCall, times: int) -> bool:
    return cluster.count(event, call) < times


def _note(cluster: FakeCluster, event: Event, call: FakeCall, key: str) -> None:
    cluster.journal.append(Entry(at=time.time(), event=event, call=call, key=key))
