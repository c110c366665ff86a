"""Fixtures for the tests of devcloud itself; the full cloud is the one that all tests share."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from openstack.connection import Connection

from devcloud import Devcloud
from tests.conftest import free_port_base

from .stacks import Stacks, connect_to

VENV = Path(__file__).resolve().parents[2] / ".devcloud" / "venv"
Connect = Callable[[str], Connection]


@pytest.fixture(name="cloud")
def cloud_without_faults(cloud: Devcloud) -> Iterator[Devcloud]:
    """The full cloud that the whole run shares, without the faults of other tests."""
    cloud.clear_faults()
    yield cloud
    cloud.clear_faults()


@pytest.fixture(scope="session")
def quick_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Devcloud]:
    """Keystone, Glance and Heat, next to the full cloud and with the same packages."""
    quick = Devcloud(
        tmp_path_factory.mktemp("quick"),
        port_base=free_port_base(),
        services="quick",
        venv=VENV,
        boot_seconds=0.2,
    )
    quick.start()
    yield quick
    quick.stop()


@pytest.fixture
def connect(cloud: Devcloud) -> Connect:
    """Log in to the full cloud by a name in clouds.yaml."""
    return lambda name: connect_to(cloud, name)


@pytest.fixture
def stacks(connect: Connect) -> Iterator[Stacks]:
    """Stacks of user demo in the full cloud."""
    made = Stacks(connect("demo"))
    yield made
    made.clean()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let openstacksdk announce its future; the tests mean the clouds, not the library."""
    ignored = pytest.mark.filterwarnings("ignore::openstack.warnings._RemovedInSDKWarning")
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(ignored)
