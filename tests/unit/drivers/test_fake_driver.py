"""The fake driver keeps the contract, and its faults do what their labels say."""

from pathlib import Path

import pytest

from jeroboam.drivers.base import DriverContext, Phase
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.errors import CloudUnavailableError
from jeroboam.models import OperationKind
from jeroboam.testing.driver_suite import DriverCase, DriverSuite
from tests.fakes import NoCloud, no_secrets
from tests.unit.specs import make_spec


def make_case(directory: Path, **labels: str) -> DriverCase:
    spec = make_spec(masters=3, workers=2, labels={"fake_create_seconds": "0.05", **labels})
    return DriverCase(
        driver=FakeDriver(directory),
        spec=spec,
        context=DriverContext("cluster:operation:step", NoCloud(), no_secrets),
        count_objects=lambda: len(list(directory.glob("*.json"))),
        timeout_seconds=5,
        poll_seconds=0.02,
        bad_labels=(
            ("fake_create_seconds", "soon", "valid number"),
            ("fake_fail", "everything", "create"),
            ("fake_typo", "1", "fake_create_seconds"),
        ),
    )


class TestFakeDriver(DriverSuite):
    @pytest.fixture
    def case(self, tmp_path: Path) -> DriverCase:
        return make_case(tmp_path, fake_delete_seconds="0.05")


def test_injected_failure(tmp_path: Path) -> None:
    """A fault of the backend carries its reason and the failed resource."""
    case = make_case(tmp_path, fake_fail="create", fake_fail_reason="No valid host").create()
    progress = case.wait(OperationKind.CREATE)
    assert (progress.phase, progress.message) == (Phase.FAILED, "No valid host")
    assert progress.faults == {"fake_node_0": "No valid host"}


def test_injected_silence(tmp_path: Path) -> None:
    """The first calls of create fail as asked for, the next one works."""
    case = make_case(tmp_path, fake_unavailable_calls="2")
    for _ in range(2):
        with pytest.raises(CloudUnavailableError):
            case.create()
    assert case.create().wait(OperationKind.CREATE).phase is Phase.DONE


def test_injected_interruption(tmp_path: Path) -> None:
    """A backend that broke off goes on when it is asked again, with the same object."""
    case = make_case(tmp_path, fake_interruptions="1").create()
    assert case.wait(OperationKind.CREATE).phase is Phase.INTERRUPTED
    assert case.create().wait(OperationKind.CREATE).phase is Phase.DONE
    assert case.count_objects() == 1
