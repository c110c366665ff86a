"""Drivers that exist to be selected, or not to be."""

from collections.abc import Sequence
from typing import ClassVar

from jeroboam.drivers.base import ClusterDriver, DriverContext, Poller, Provides
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.models import ClusterOutputs, ClusterSpec, Node, NodeGroup


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


class Plain(ClusterDriver):
    """Builds clusters and has no further ability; the API only ever asks it to validate."""

    name: ClassVar[str] = "plain"
    version: ClassVar[str] = "1.0.0"
    uses_cloud: ClassVar[bool] = False

    @property
    def provides(self) -> Sequence[Provides]:
        return (Provides(server_type="vm", os="plain", coe="kubernetes"),)

    def validate(self, spec: ClusterSpec) -> None:
        """Have no objection."""

    def create_cluster(
        self, context: DriverContext, spec: ClusterSpec, timeout_minutes: int
    ) -> str:
        raise NotImplementedError

    def update_cluster(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        nodes_to_remove: Sequence[Node],
        timeout_minutes: int,
    ) -> None:
        raise NotImplementedError

    def delete_cluster(self, context: DriverContext, spec: ClusterSpec) -> None:
        raise NotImplementedError

    def poller(self) -> Poller:
        raise NotImplementedError

    def read_outputs(self, context: DriverContext, spec: ClusterSpec) -> ClusterOutputs:
        raise NotImplementedError


def registry() -> DriverRegistry:
    """Return a registry with all of them, and the fake driver."""
    return DriverRegistry(
        [
            DriverEntry(FakeDriver()),
            DriverEntry(FirstTwin()),
            DriverEntry(SecondTwin()),
            DriverEntry(Broken()),
            DriverEntry(Plain()),
            DriverEntry(Disabled(), "the operator lists it in disabled_drivers"),
        ]
    )
