"""Runs that began with an older version go on with this one."""

import asyncio
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

from jeroboam.worker import WORKFLOWS

HISTORIES = sorted(Path(__file__).with_name("histories").glob("*.json"))


def read(path: Path) -> WorkflowHistory:
    return WorkflowHistory.from_json("cluster/recorded", path.read_text())


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
async def test_recorded_history_replays(path: Path) -> None:
    """Every recorded history replays on today's workflow code without a difference."""
    history = await asyncio.to_thread(read, path)
    replayer = Replayer(workflows=WORKFLOWS, data_converter=pydantic_data_converter)
    await replayer.replay_workflow(history)


def test_there_is_something_to_replay() -> None:
    """Each end that an operation can have is recorded."""
    assert len(HISTORIES) >= 4
