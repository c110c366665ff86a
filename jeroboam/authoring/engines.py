"""What a driver for a new engine begins as."""

from enum import StrEnum

from jeroboam.authoring.skeletons.example_python_v1.driver import ExamplePythonV1Driver
from jeroboam.drivers.base import ClusterDriver
from jeroboam.drivers.registry import DriverRegistry


class Engine(StrEnum):
    """What builds the clusters of a driver."""

    HEAT = "heat"
    ANSIBLE = "ansible"
    MISTRAL = "mistral"
    PYTHON = "python"


_FIRST = {
    Engine.HEAT: "k8s_ubuntu_v1",
    Engine.ANSIBLE: "k8s_ansible_v1",
    Engine.MISTRAL: "k8s_mistral_v1",
}


def example(engine: Engine, registry: DriverRegistry) -> ClusterDriver:
    """Return the driver that a new one of an engine begins as.

    Raises:
        DriverNotFoundError: It is not installed.
    """
    if engine is Engine.PYTHON:
        return ExamplePythonV1Driver()
    return registry.installed(_FIRST[engine])
