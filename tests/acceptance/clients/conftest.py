"""One running product for the tests of the clients."""

from collections.abc import Iterator

import pytest
from openstack.connection import Connection

from devcloud import Devcloud
from tests.acceptance.stack import Stack, running_stack


@pytest.fixture(scope="package")
def stack(cloud: Devcloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(cloud, tmp_path_factory.mktemp("clients")) as stack:
        yield stack


@pytest.fixture(scope="package")
def demo(stack: Stack) -> Connection:
    return stack.connect("demo")
