"""A few rounds of the fault harness with a fixed seed."""

from pathlib import Path

import pytest

from tests.chaos.run import Options, run
from tests.conftest import free_port_base

pytestmark = pytest.mark.timeout(300)


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
