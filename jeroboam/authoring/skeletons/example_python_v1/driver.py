"""Clusters as files: the smallest driver that obeys the contract."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

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
from jeroboam.errors import InvalidRequestError, NotFoundError
from jeroboam.models import ClusterOutputs, ClusterSpec, Node, NodeGroup

from . import version

COLOURS = frozenset({"green", "blue"})
DIRECTORY = "EXAMPLE_PYTHON_V1_DIRECTORY"
"""The environment variable that says where the files are."""


class ExamplePythonV1Driver(ClusterDriver):
    """Builds a cluster by writing the names of its nodes into a file.

    Args:
        directory: Where the files are; it is made when it is needed.
    """

    name = version.Driver
    version = version.version
    uses_cloud = False

    def __init__(self, directory: Path | None = None) -> None:
        default = Path.home() / ".local" / "share" / version.Driver
        self._directory = directory or Path(os.environ.get(DIRECTORY, default))

    @property
    def provides(self) -> Sequence[Provides]:
        """The kinds of cluster that it builds."""
        return (Provides(server_type="vm", os="ubuntu", coe="kubernetes"),)

    def validate(self, spec: ClusterSpec) -> None:
        """Check the labels."""
        colour = spec.labels.get("colour", "green")
        if colour not in COLOURS:
            raise InvalidRequestError(f"Label 'colour' is 'green' or 'blue', not '{colour}'.")

    def create_cluster(
        self, context: DriverContext, spec: ClusterSpec, timeout_minutes: int
    ) -> str:
        """Write the file; a repeated call finds what the first one made, by the uuid."""
        groups = {group.uuid: names(group, []) for group in spec.node_groups}
        self._write(context, spec, groups)
        return spec.cluster.uuid

    def update_cluster(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        nodes_to_remove: Sequence[Node],
        timeout_minutes: int,
    ) -> None:
        """Give a group its size: the same from any state, and on the way back."""
        groups = self._read(spec)["groups"]
        gone = {node.name for node in nodes_to_remove}
        kept = [name for name in groups[group.uuid] if name not in gone]
        groups[group.uuid] = names(group, kept)
        self._write(context, spec, groups)

    def delete_cluster(self, context: DriverContext, spec: ClusterSpec) -> None:
        """Remove the file; none is success."""
        self._path(spec).unlink(missing_ok=True)

    def poller(self) -> Poller:
        """Return a poller of the directory."""
        return ExamplePythonV1Poller(self._directory)

    def read_outputs(self, context: DriverContext, spec: ClusterSpec) -> ClusterOutputs:
        """Return the nodes, with addresses that are reserved for documentation."""
        groups = self._read(spec)["groups"]
        nodes = {
            uuid: tuple(Node(name=name, id=f"{spec.cluster.uuid}/{name}") for name in found)
            for uuid, found in groups.items()
        }
        addresses = {
            uuid: tuple(f"198.51.100.{number}" for number in range(len(found)))
            for uuid, found in groups.items()
        }
        api = "https://192.0.2.1:6443"
        return ClusterOutputs(api_address=api, nodes=nodes, node_addresses=addresses)

    def _read(self, spec: ClusterSpec) -> dict[str, Any]:
        if not self._path(spec).exists():
            raise NotFoundError(f"Cluster {spec.cluster.name} has no file. Create it anew.")
        return dict(json.loads(self._path(spec).read_text()))

    def _write(
        self, context: DriverContext, spec: ClusterSpec, groups: Mapping[str, Sequence[str]]
    ) -> None:
        # The key tells the poller which call has been made. Written beside and renamed, so that
        # a process which dies here leaves the old file or the new one.
        content = json.dumps({"key": context.idempotency_key, "groups": groups})
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._path(spec).with_suffix(".draft")
        draft.write_text(content)
        draft.replace(self._path(spec))

    def _path(self, spec: ClusterSpec) -> Path:
        return self._directory / f"{spec.cluster.uuid}.json"


def names(group: NodeGroup, kept: Sequence[str]) -> list[str]:
    """Return the names of a group's nodes: those that are kept, and new ones."""
    found = list(kept[: group.node_count])
    for number in range(len(kept) + group.node_count):
        name = f"{group.name}-{number}"
        if len(found) < group.node_count and name not in found:
            found.append(name)
    return found


class ExamplePythonV1Poller(Poller):
    """Lists the directory once for all watches."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def poll(self, cloud: CloudAccess, watches: Sequence[Watch]) -> Mapping[str, Progress]:
        """Say of each cluster whether its file is that of the call which is waited for."""
        present: dict[str, str] = {}
        for path in self._directory.glob("*.json"):
            with suppress(FileNotFoundError):  # It may be removed at this very moment.
                present[path.stem] = path.read_text()
        return {
            watch.cluster_id: self._progress(watch, present.get(watch.cluster_id))
            for watch in watches
        }

    def _progress(self, watch: Watch, content: str | None) -> Progress:
        if content is None:
            return Progress(phase=Phase.GONE, message="There is no file.")
        if watch.method.removes or json.loads(content)["key"] != watch.key:
            # The call that is waited for never came through: the engine makes it again.
            return Progress(phase=Phase.INTERRUPTED, message="The file is that of another call.")
        return Progress(phase=Phase.DONE, message="The file is written.")
