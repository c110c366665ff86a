"""Labels of the fake backend for one operation of a living cluster."""

import json
from collections.abc import Mapping
from pathlib import Path

from jeroboam.drivers.fake.backend import FakeBackend
from jeroboam.drivers.fake.cluster import FakeCluster
from jeroboam.drivers.fake.records import Event

COUNTED = {
    "fake_fail_times": ("fake_fail", Event.FAILED),
    "fake_unavailable_calls": ("fake_unavailable", Event.UNAVAILABLE),
    "fake_interruptions": ("fake_interrupt", Event.INTERRUPTED),
    "fake_hang_calls": ("fake_hang", Event.HUNG),
    "fake_crash_calls": ("fake_crash", Event.CRASHED),
    "fake_lie_times": ("fake_lie", Event.LIED),
}
"""The backend counts over the life of a cluster, a round from its beginning."""


class BackendFaults:
    """Sets faults, and looks past the cut that may be in force.

    Args:
        directory: Of the fake backend.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._faults = directory / "faults"
        self._faults.mkdir(parents=True, exist_ok=True)

    def set(self, cluster: str, labels: Mapping[str, str]) -> None:
        """Let labels hold for a cluster until they are cleared."""
        known = self.known(cluster)
        counted = dict(labels)
        for times, (what, event) in COUNTED.items():
            if what in labels:
                wanted = int(labels.get(times, "1"))
                counted[times] = str(known.count(event, labels[what]) + wanted)
        new = self._faults / f"{cluster}.new"
        new.write_text(json.dumps(counted))
        new.replace(self._faults / f"{cluster}.json")

    def clear(self, cluster: str) -> None:
        """Let the cluster's own labels hold again."""
        (self._faults / f"{cluster}.json").unlink(missing_ok=True)

    def known(self, cluster: str) -> FakeCluster:
        """Return what the backend knows, as it stands now."""
        backend = FakeBackend(self._directory)
        with backend._changing(cluster) as known:
            return known
