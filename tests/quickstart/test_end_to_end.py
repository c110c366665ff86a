"""The product's main job: one command, and a cluster."""

import os
import re
import shutil
import time
import urllib.request
from collections.abc import Iterator

import pytest

from devcloud.cloud import Devcloud
from quickstart.layout import CHECKOUT, Layout
from tests.conftest import free_port_base
from tests.quickstart.stack import Running, processes_of, start
from tools.check_docs import PAGE, check

pytestmark = pytest.mark.timeout(900)

UP = "Everything stays up until Ctrl-C."
GUIDE = CHECKOUT / "docs" / "how-to" / "write-a-driver.md"
RESTART = "Start `make quickstart` again"
FIRST_SECONDS = 420.0
AGAIN_SECONDS = 240.0


@pytest.fixture(scope="module")
def layout() -> Iterator[Layout]:
    """A quickstart of its own, beside whatever runs on this machine."""
    layout = Layout(f"test{os.getpid()}", free_port_base())
    yield layout
    Devcloud(layout.cloud_home, report=lambda _: None).destroy()
    shutil.rmtree(layout.home, ignore_errors=True)


@pytest.fixture(scope="module")
def new_driver(layout: Layout) -> Iterator[str]:
    """What the guide for authors says up to the start of the quickstart; the rest of it."""
    before, found, after = GUIDE.read_text(encoding="utf-8").partition(RESTART)
    assert found
    try:
        assert check(before, layout) == []
        yield after
    finally:
        shutil.rmtree(CHECKOUT / "acme_k8s_v1", ignore_errors=True)


@pytest.fixture(scope="module")
def running(layout: Layout, new_driver: str) -> Iterator[Running]:
    """The quickstart, with its first cluster, and a driver dropped in."""
    run = start(layout)
    try:
        run.wait_for(UP, FIRST_SECONDS)
        yield run
    finally:
        if run.process.poll() is None:
            run.interrupt()


def test_a_newcomer_sees_a_cluster(running: Running, layout: Layout) -> None:
    """It ends with a complete cluster, its steps, and a link to the very run that made it."""
    assert "Cluster demo-1 is CREATE_COMPLETE" in running.output
    assert "Wait for the backend" in running.output
    assert "openstack coe cluster create demo-1" in running.output
    link = next(line.strip() for line in running.lines if "/workflows/cluster%2F" in line)
    assert link.startswith(f"http://127.0.0.1:{layout.temporal_ui_port}/")
    *_, run, page_name = link.split("/")
    assert (len(run), page_name) == (36, "history")
    with urllib.request.urlopen(link, timeout=10) as page:
        assert page.status == 200


def test_the_tutorial_is_true(running: Running, layout: Layout) -> None:
    """Every command of the tutorial does what the page says."""
    assert check(PAGE.read_text(encoding="utf-8"), layout) == []
    assert running.process.poll() is None


def test_the_guide_for_authors_is_true(running: Running, new_driver: str, layout: Layout) -> None:
    """A driver that was written a moment ago builds a cluster."""
    assert check(new_driver, layout) == []
    assert running.process.poll() is None


def test_killed_and_run_again(running: Running, layout: Layout) -> None:
    """After a kill -9 the next run stops what was left, and goes on with the same cluster."""
    running.kill()
    left = processes_of(layout.home, layout.cloud_home)
    assert left
    again = start(layout)
    again.wait_for(UP, AGAIN_SECONDS)
    assert "Stopped what an earlier quickstart had left: api, temporal, worker." in again.output
    assert re.search(r"demo-1 is (CREATE|UPDATE)_COMPLETE already", again.output)
    assert again.interrupt() == 0
    assert "Traceback" not in again.output
    assert processes_of(layout.home, layout.cloud_home) == {}


def test_stopped_halfway(layout: Layout) -> None:
    """Ctrl-C at the very beginning leaves no process behind either."""
    run = start(layout, "--new")
    run.wait_for("done  Temporal", AGAIN_SECONDS)
    time.sleep(1)
    assert run.interrupt() == 130
    assert "Traceback" not in run.output
    assert processes_of(layout.home, layout.cloud_home) == {}
