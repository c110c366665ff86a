"""Drivers that exist to be selected, or not to be."""

from collections.abc import Sequence
from typing import ClassVar

from jeroboam.drivers.base import Provides
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.models import ClusterSpec


class FirstTwin(FakeDriver):
    """One of two that build the same."""

    name: ClassVar[str] = "first_twin"
    uses_cloud: ClassVar[bool] = True

    @property
    def provides(self) -> Sequence[Provides]:
        return (Provides(server_type="vm", os="twin", coe="kubernetes"),)


class SecondTwin(FirstTwin):
    """The other."""

    name: ClassVar[str] = "second_twin"


class Disabled(FakeDriver):
    """Installed, and disabled by the operator."""

    name: ClassVar[str] = "disabled_driver"

    @property
    def provides(self) -> Sequence[Provides]:
        return (Provides(server_type="vm", os="disabled", coe="kubernetes"),)


class Broken(FakeDriver):
    """Has a defect in ``validate``."""

    name: ClassVar[str] = "broken"

    @property
    def provides(self) -> Sequence[Provides]:
        return (Provides(server_type="vm", os="fake", coe="swarm"),)

    def validate(self, spec: ClusterSpec) -> None:
        raise ZeroDivisionError("secret-in-a-defect")


def registry() -> DriverRegistry:
    """Return a registry with all of them, and the fake driver."""
    return DriverRegistry(
        [
            DriverEntry(FakeDriver()),
            DriverEntry(FirstTwin()),
            DriverEntry(SecondTwin()),
            DriverEntry(Broken()),
            DriverEntry(Disabled(), "the operator lists it in disabled_drivers"),
        ]
    )
