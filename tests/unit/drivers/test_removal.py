"""What a deleted cluster has left is removed, and named where it stays."""

from collections.abc import Sequence

import pytest

from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.removal import remove_leftovers
from jeroboam.errors import CloudUnavailableError, ConflictError, JeroboamError
from jeroboam.models import ClusterSpec
from tests.fakes import NoCloud, no_secrets
from tests.unit.specs import make_spec

CONTEXT = DriverContext("cluster:delete:step", NoCloud(), no_secrets)


class Untidy(FakeDriver):
    """A driver whose backend has made things at the last moment.

    Args:
        left: What is there.
        goes: What each delete removes of it, or raises.
    """

    def __init__(self, left: Sequence[str], *goes: str | JeroboamError) -> None:
        self.left = list(left)
        self.goes = list(goes)
        self.deletes = 0

    def find_leftovers(self, context: DriverContext, spec: ClusterSpec) -> Sequence[str]:
        return tuple(self.left)

    def delete_cluster(self, context: DriverContext, spec: ClusterSpec) -> None:
        self.deletes += 1
        first = self.goes.pop(0) if self.goes else None
        if isinstance(first, JeroboamError):
            raise first
        self.left = [one for one in self.left if one != first]


def left_by(driver: Untidy) -> list[str]:
    return list(remove_leftovers(driver, CONTEXT, make_spec()))


def test_a_clean_end() -> None:
    """Where nothing is left, nothing is deleted again."""
    driver = Untidy([])
    assert left_by(driver) == []
    assert driver.deletes == 0


def test_what_came_to_light() -> None:
    """What is left is removed, users before what they use."""
    driver = Untidy(["port", "network"], "port", "network")
    assert left_by(driver) == []


def test_what_stays() -> None:
    """What a further delete does not remove is named, without going on for ever."""
    driver = Untidy(["volume"])
    assert left_by(driver) == ["volume"]
    assert driver.deletes == 1


def test_a_refusal_hides_nothing() -> None:
    """When the delete itself is refused, what is left is named all the same."""
    assert left_by(Untidy(["port"], ConflictError("in use"))) == ["port"]


def test_trouble_that_may_pass() -> None:
    """The step is to be repeated when a service does not answer; the names are told meanwhile."""
    driver = Untidy(["port p (1)"], CloudUnavailableError("Neutron does not answer."))
    with pytest.raises(CloudUnavailableError, match=r"Neutron does not answer\. .* port p \(1\)"):
        left_by(driver)
