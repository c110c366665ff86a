"""A receiver for each test."""

from collections.abc import Iterator

import pytest

from tests.integration.hooks.receiver import Receiver, receiving


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as one:
        yield one
