"""A few rounds of the fault harness with a fixed seed, and a part of its sweep."""

from pathlib import Path

import pytest

from jeroboam.models import OperationKind
from tests.chaos.rules import Act, When
from tests.chaos.run import Options, run
from tests.chaos.sweep import Extent
from tests.conftest import free_port_base

pytestmark = pytest.mark.timeout(600)


async def test_nothing_is_lost_or_done_twice(tmp_path: Path) -> None:
    """Operations under fault end as specified, and records agree with the backend."""
    options = Options(
        rounds=12,
        seed="5",
        directory=tmp_path,
        lanes=6,
        operations=1,
        port_base=free_port_base(),
        quiet=True,
    )
    report, table = await run(options)
    assert report.problems == [], table
    assert len(report.rounds) >= options.rounds


async def test_a_worker_may_die_after_each_activity(tmp_path: Path) -> None:
    """The plan, each step and each write of the record survive the worker that did them."""
    extent = Extent(kinds=[OperationKind.RESIZE], acts=[Act.WORKER], sides=[When.AFTER])
    options = Options(
        rounds=0,
        seed="5",
        directory=tmp_path,
        lanes=12,
        port_base=free_port_base(),
        quiet=True,
        sweep=extent,
    )
    report, table = await run(options)
    assert report.problems == [], table
    assert report.missed == [], table
    assert len(report.struck) == report.cases
    # A resize has five steps with its hooks, and each is written down when it begins.
    assert report.cases == 1 + 5 + 6
