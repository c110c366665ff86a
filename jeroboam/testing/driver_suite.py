"""The driver compliance suite: the contract as tests.

A driver's own tests subclass ``DriverSuite`` and give one fixture::

    class TestMyDriver(DriverSuite):
        @pytest.fixture
        def case(self) -> DriverCase:
            return DriverCase(driver=MyDriver(), spec=..., context=...)

Each rule of ``docs/driver-contract.md`` that a test can check has one here.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from jeroboam.drivers.base import (
    ClusterDriver,
    DriverContext,
    Phase,
    Poller,
    Progress,
    Provides,
    Watch,
)
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec, OperationKind

SEMANTIC_VERSION = re.compile(r"^\d+\.\d+\.\d+$")
RESUBMISSIONS = 5
KEY_MARK = "PRIVATE KEY"


@dataclass(frozen=True)
class DriverCase:
    """A driver with a cluster that it can build.

    Args:
        spec: A valid cluster whose uuid nothing else uses.
        context: The surroundings of the driver's calls.
        timeout_seconds: The longest that one backend operation may take.
        poll_seconds: Pause between two polls.
        count_objects: Counts the backend's top objects of the cluster (stacks, for Heat), asked
            of the backend itself and not of the driver.
        bad_labels: Labels that ``validate`` must refuse, each with a part of the message.
    """

    driver: ClusterDriver
    spec: ClusterSpec
    context: DriverContext
    count_objects: Callable[[], int]
    timeout_seconds: float = 300.0
    poll_seconds: float = 1.0
    bad_labels: tuple[tuple[str, str, str], ...] = ()

    def watch(self, operation: OperationKind) -> Watch:
        """Return the watch of an operation on the cluster."""
        cluster = self.spec.cluster
        return Watch(
            cluster_id=cluster.uuid,
            project_id=cluster.project_id,
            trust_id=cluster.trust_id,
            backend_id=cluster.stack_id,
            operation=operation,
        )

    def create(self) -> "DriverCase":
        """Submit the creation; return the case with the backend id in its cluster."""
        minutes = max(1, int(self.timeout_seconds // 60))
        stack_id = self.driver.create_cluster(self.context, self.spec, minutes)
        cluster = self.spec.cluster.model_copy(update={"stack_id": stack_id})
        return replace(self, spec=self.spec.model_copy(update={"cluster": cluster}))

    def wait(self, operation: OperationKind) -> Progress:
        """Poll until the backend has finished."""
        deadline = time.monotonic() + self.timeout_seconds
        watch, poller = self.watch(operation), self.driver.poller()
        while time.monotonic() < deadline:
            progress = poller.poll(self.context.cloud, (watch,))[watch.cluster_id]
            if progress.phase is not Phase.RUNNING:
                return progress
            time.sleep(self.poll_seconds)
        raise AssertionError(f"The {operation} did not end within {self.timeout_seconds} s.")

    def remove(self) -> Progress:
        """Delete the cluster and wait until it is gone.

        A delete that the backend gave up or broke off is asked for again, as the engine does.
        """
        for _ in range(1 + RESUBMISSIONS):
            self.driver.delete_cluster(self.context, self.spec)
            progress = self.wait(OperationKind.DELETE)
            if progress.phase not in {Phase.FAILED, Phase.INTERRUPTED}:
                break
        return progress


class DriverSuite:
    """Subclass it and give the fixture ``case``."""

    def test_name_and_version(self, case: DriverCase) -> None:
        """A driver has a name and a semantic version."""
        assert case.driver.name
        assert SEMANTIC_VERSION.match(case.driver.version)

    def test_provides(self, case: DriverCase) -> None:
        """A driver says which clusters it builds, and says so for the case at hand."""
        template = case.spec.template
        distro = template.cluster_distro or ""
        assert (
            Provides(server_type=template.server_type, os=distro, coe=template.coe)
            in case.driver.provides
        )

    def test_valid_spec_is_accepted(self, case: DriverCase) -> None:
        """A valid cluster passes, and validation does nothing to the backend."""
        case.driver.validate(case.spec)
        assert case.count_objects() == 0

    def test_bad_labels_are_refused(self, case: DriverCase) -> None:
        """A wrong label is refused with its name, before anything is built."""
        for label, value, expected in case.bad_labels:
            cluster = case.spec.cluster.model_copy(
                update={"labels": {**case.spec.cluster.labels, label: value}}
            )
            with pytest.raises(InvalidRequestError, match=re.escape(expected)) as caught:
                case.driver.validate(case.spec.model_copy(update={"cluster": cluster}))
            assert label in caught.value.message

    def test_pollers_are_shared(self, case: DriverCase) -> None:
        """Two pollers of a driver are of one type, so that one list call serves both."""
        first, second = case.driver.poller(), case.driver.poller()
        assert isinstance(first, Poller)
        assert type(first) is type(second)

    def test_unknown_cluster_is_gone(self, case: DriverCase) -> None:
        """A watch of what does not exist is answered with GONE, not with an error."""
        assert case.wait(OperationKind.CREATE).phase is Phase.GONE

    def test_delete_of_nothing_succeeds(self, case: DriverCase) -> None:
        """A delete of what was never built is success."""
        assert case.remove().phase is Phase.GONE
        assert case.count_objects() == 0

    def test_create_twice_builds_once(self, case: DriverCase) -> None:
        """A repeated create, as after a crash, builds nothing twice; delete removes it all."""
        try:
            first = case.create()
            second = case.create()
            assert first.spec.cluster.stack_id == second.spec.cluster.stack_id
            assert first.wait(OperationKind.CREATE).phase is Phase.DONE
            assert case.count_objects() == 1
            self.check_outputs(first)
        finally:
            progress = case.remove()
        assert progress.phase is Phase.GONE
        assert case.count_objects() == 0
        assert case.remove().phase is Phase.GONE

    def test_delete_overtakes_create(self, case: DriverCase) -> None:
        """A delete in the middle of a create leaves nothing behind."""
        case.create()
        assert case.remove().phase is Phase.GONE
        assert case.count_objects() == 0

    def check_outputs(self, case: DriverCase) -> None:
        """Check what the driver reports of a cluster that is up."""
        outputs = case.driver.read_outputs(case.context, case.spec)
        assert outputs.api_address
        assert KEY_MARK not in outputs.model_dump_json()
        for group in case.spec.node_groups:
            assert len(outputs.node_addresses[group.uuid]) == group.node_count
