"""One quickstart at a time in one home."""

import os
import socket
from collections.abc import Iterator

import pytest

from quickstart.errors import QuickstartError
from quickstart.instance import held, holder
from quickstart.layout import Layout
from tests.conftest import free_port_base
from tests.quickstart.stack import start


@pytest.fixture
def layout() -> Iterator[Layout]:
    import shutil

    layout = Layout(f"test{os.getpid()}", 15000)
    yield layout
    shutil.rmtree(layout.home, ignore_errors=True)
    shutil.rmtree(layout.cloud_home, ignore_errors=True)


def test_the_home_is_held_by_one(layout: Layout) -> None:
    """While one holds the home, another is refused and told who holds it."""
    assert holder(layout) is None
    with held(layout):
        recorded = holder(layout)
        assert recorded
        assert recorded.pid == os.getpid()
        with pytest.raises(QuickstartError, match=f"already .process {os.getpid()}"), held(layout):
            raise AssertionError
    assert holder(layout) is None
    with held(layout):
        pass


def test_nobody_else_looks_into_the_home(layout: Layout) -> None:
    """Keys lie in the home; one that was open to others is closed."""
    layout.home.mkdir(mode=0o755)
    with held(layout):
        assert layout.home.stat().st_mode & 0o077 == 0


def test_a_second_quickstart_says_so(layout: Layout) -> None:
    """A second run ends with one line on what runs and one on what to do."""
    with held(layout):
        second = start(layout, "--once")
        assert second.wait() == 1
    cause, remedy = second.lines
    assert cause.startswith("quickstart: A quickstart is running here already")
    assert "--name" in remedy


def test_a_taken_port(layout: Layout) -> None:
    """A taken port is named before anything is started."""
    base = free_port_base()
    with socket.socket() as other:
        other.bind(("127.0.0.1", base + 33))
        other.listen()
        run = start(Layout(layout.name, base), "--once")
        assert run.wait() == 1
    cause, remedy = run.lines
    assert f"Port {base + 33}, which the Temporal server needs, is taken" in cause
    assert "--port-base" in remedy
