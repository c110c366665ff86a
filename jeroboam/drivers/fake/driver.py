"""A driver that pretends, for trying Jeroboam without a cloud and for fault injection.

Clusters are files in a directory, so they outlive the process and a test can count them. Labels
of the cluster say how the pretended backend behaves; the table is in ``docs/fake-driver.md``.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import ValidationError

from jeroboam import settings
from jeroboam.drivers.base import (
    CloudAccess,
    ClusterDriver,
    DriverContext,
    Phase,
    Poller,
    Progress,
    Provides,
    Watch,
)
from jeroboam.drivers.fake import version
from jeroboam.drivers.fake.backend import FakeBackend, FakeCluster, Labels
from jeroboam.errors import BackendFailedError, InvalidRequestError
from jeroboam.models import ClusterOutputs, ClusterSpec, OperationKind


class FakeDriver(ClusterDriver):
    """Pretends to build Kubernetes on the made-up distribution ``fake``.

    Args:
        directory: Where the clusters' files live; by default within the state directory.
    """

    name: ClassVar[str] = version.Driver
    version: ClassVar[str] = version.version
    uses_cloud: ClassVar[bool] = False

    def __init__(self, directory: Path | None = None) -> None:
        self._backend = FakeBackend(directory or settings.load().state_directory / "fake")

    @property
    def provides(self) -> Sequence[Provides]:
        """Kubernetes on ``fake`` virtual machines."""
        return (Provides(server_type="vm", os="fake", coe="kubernetes"),)

    def validate(self, spec: ClusterSpec) -> None:
        """Refuse labels that are no fault of the table, or have a wrong type."""
        _labels(spec)

    def create_cluster(
        self, context: DriverContext, spec: ClusterSpec, timeout_minutes: int
    ) -> str:
        """Write the cluster's file, unless it is there."""
        labels = _labels(spec)
        self._backend.count_call(spec.cluster.uuid, "create", labels.fake_unavailable_calls)
        return self._backend.submit(spec.cluster.uuid, OperationKind.CREATE, labels)

    def update_cluster(
        self, context: DriverContext, spec: ClusterSpec, *, rollback: bool = False
    ) -> str:
        """Pretend a change of the cluster that exists."""
        if self._backend.read(spec.cluster.uuid) is None:
            raise BackendFailedError("The fake cluster does not exist, so it cannot be changed.")
        return str(spec.cluster.stack_id)

    def delete_cluster(self, context: DriverContext, spec: ClusterSpec) -> None:
        """Begin the removal of the file; none is success."""
        if self._backend.read(spec.cluster.uuid) is not None:
            self._backend.submit(spec.cluster.uuid, OperationKind.DELETE, _labels(spec))

    def poller(self) -> Poller:
        """Return a poller of the directory."""
        return FakePoller(self._backend)

    def read_outputs(self, context: DriverContext, spec: ClusterSpec) -> ClusterOutputs:
        """Return addresses from the range that is reserved for documentation."""
        groups = (spec.masters, *spec.workers)
        return ClusterOutputs(
            api_address="https://192.0.2.1:6443",
            coe_version="v0.0.0-fake",
            node_addresses={
                group.uuid: tuple(f"198.51.{number}.{node}" for node in range(group.node_count))
                for number, group in enumerate(groups)
            },
        )


class FakePoller(Poller):
    """Reads the clusters' files."""

    def __init__(self, backend: FakeBackend) -> None:
        self._backend = backend

    def poll(self, cloud: CloudAccess, watches: Sequence[Watch]) -> Mapping[str, Progress]:
        """Report each watched file's pretended progress."""
        return {watch.cluster_id: self._progress(watch) for watch in watches}

    def _progress(self, watch: Watch) -> Progress:
        cluster = self._backend.read(watch.cluster_id)
        if cluster is None:
            return Progress(phase=Phase.GONE, message="The fake cluster does not exist.")
        report: Callable[[FakeCluster], Progress] = (
            self._deleting if cluster.operation is OperationKind.DELETE else self._building
        )
        return report(cluster)

    def _deleting(self, cluster: FakeCluster) -> Progress:
        if not cluster.finished:
            return Progress(phase=Phase.RUNNING, message="Pretending to delete.")
        if cluster.failure:
            return Progress(phase=Phase.FAILED, message=cluster.failure)
        self._backend.remove(cluster.uuid)
        return Progress(phase=Phase.GONE, message="The fake cluster is deleted.")

    def _building(self, cluster: FakeCluster) -> Progress:
        if cluster.interrupted:
            return Progress(phase=Phase.INTERRUPTED, message="The fake backend was restarted.")
        if not cluster.finished:
            return Progress(phase=Phase.RUNNING, message="Pretending to build.")
        if cluster.failure:
            faults = {"fake_node_0": cluster.failure}
            return Progress(phase=Phase.FAILED, message=cluster.failure, faults=faults)
        return Progress(phase=Phase.DONE, message="Pretended.")


def _labels(spec: ClusterSpec) -> Labels:
    try:
        return Labels.model_validate(
            {key: value for key, value in spec.labels.items() if key.startswith("fake_")}
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidRequestError(
            f"Label '{first['loc'][0]}' is not valid for the fake driver: {first['msg']}. "
            f"It has these: {', '.join(Labels.model_fields)}."
        ) from error
