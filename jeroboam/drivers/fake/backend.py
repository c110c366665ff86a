"""The pretended backend: one JSON file for each cluster."""

import time
from pathlib import Path
from tempfile import NamedTemporaryFile

from pydantic import Field

from jeroboam.errors import CloudUnavailableError
from jeroboam.models import Model, OperationKind


class Labels(Model):
    """How the backend shall behave; the labels of a cluster.

    Args:
        fake_create_seconds: How long a create takes.
        fake_delete_seconds: How long a delete takes.
        fake_fail: The operation which the backend gives up, when its time is over.
        fake_fail_reason: The reason that it gives.
        fake_unavailable_calls: How many calls of create meet a backend that does not answer.
        fake_interruptions: How often the backend breaks off a create and must be asked again.
    """

    fake_create_seconds: float = Field(default=1.0, ge=0)
    fake_delete_seconds: float = Field(default=0.5, ge=0)
    fake_fail: OperationKind | None = None
    fake_fail_reason: str = "Injected fault."
    fake_unavailable_calls: int = Field(default=0, ge=0)
    fake_interruptions: int = Field(default=0, ge=0)


class FakeCluster(Model):
    """One pretended cluster.

    Args:
        submissions: How often the operation at work was submitted.
    """

    uuid: str
    operation: OperationKind
    started_at: float
    seconds: float
    failure: str | None = None
    interruptions: int = 0
    submissions: int = 1

    @property
    def backend_id(self) -> str:
        """The id that the driver reports."""
        return f"fake-{self.uuid}"

    @property
    def finished(self) -> bool:
        """Whether the pretended time is over."""
        return time.time() >= self.started_at + self.seconds

    @property
    def interrupted(self) -> bool:
        """Whether the backend waits to be asked again."""
        return self.submissions <= self.interruptions


class FakeBackend:
    """A directory of pretended clusters."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def read(self, uuid: str) -> FakeCluster | None:
        """Return a cluster, or ``None``."""
        try:
            return FakeCluster.model_validate_json(self._path(uuid).read_text())
        except FileNotFoundError:
            return None

    def submit(self, uuid: str, operation: OperationKind, labels: Labels) -> str:
        """Begin an operation, or ask again for one that was broken off; return the backend id."""
        existing = self.read(uuid)
        if existing and existing.operation is operation:
            if not existing.interrupted:
                return existing.backend_id
            again = existing.model_copy(update={"submissions": existing.submissions + 1})
            return self._write(again)
        creating = operation is OperationKind.CREATE
        return self._write(
            FakeCluster(
                uuid=uuid,
                operation=operation,
                started_at=time.time(),
                seconds=labels.fake_create_seconds if creating else labels.fake_delete_seconds,
                failure=labels.fake_fail_reason if labels.fake_fail is operation else None,
                interruptions=labels.fake_interruptions if creating else 0,
            )
        )

    def count_call(self, uuid: str, call: str, unavailable: int) -> None:
        """Count a call, and refuse the first ``unavailable`` ones.

        Raises:
            CloudUnavailableError: As asked for.
        """
        if not unavailable:
            return
        self._directory.mkdir(parents=True, exist_ok=True)
        journal = self._path(uuid).with_suffix(f".{call}")
        with journal.open("a") as file:
            file.write(".")
        if journal.stat().st_size <= unavailable:
            raise CloudUnavailableError("The fake backend does not answer, as its labels ask.")

    def remove(self, uuid: str) -> None:
        """Forget a cluster; none is success."""
        for path in self._directory.glob(f"{uuid}.*"):
            path.unlink(missing_ok=True)

    def _write(self, cluster: FakeCluster) -> str:
        self._directory.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", dir=self._directory, suffix=".new", delete=False) as file:
            file.write(cluster.model_dump_json())
        Path(file.name).replace(self._path(cluster.uuid))
        return cluster.backend_id

    def _path(self, uuid: str) -> Path:
        return self._directory / f"{uuid}.json"
