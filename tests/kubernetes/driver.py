"""A driver whose clusters have a real Kubernetes API; their machines are pretended."""

from typing import ClassVar

from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.kubernetes.abilities import RunsKubernetes
from jeroboam.models import ClusterOutputs, ClusterSpec


class HostedDriver(FakeDriver, RunsKubernetes):
    """The fake driver, but for the address of the API."""

    name: ClassVar[str] = "hosted"
    address: ClassVar[str] = ""

    def read_outputs(self, context: DriverContext, spec: ClusterSpec) -> ClusterOutputs:
        outputs = super().read_outputs(context, spec)
        return outputs.model_copy(update={"api_address": self.address})
