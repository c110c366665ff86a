"""Runs that began with an older version go on with this one."""

import asyncio
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

from jeroboam.models.requested_wire import REQUEST_OPERATION_WORKFLOW
from jeroboam.models.scheduled_wire import (
    SCHEDULED_OPERATION_WORKFLOW,
    SYNC_SCHEDULES_WORKFLOW,
)
from jeroboam.models.wire import WORKFLOW_OF_KIND
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


def test_every_workflow_is_recorded() -> None:
    """There is a history of each type of workflow that works on clusters or schedules."""
    recorded = {
        read(path).events[0].workflow_execution_started_event_attributes.workflow_type.name
        for path in HISTORIES
    }
    others = {
        SCHEDULED_OPERATION_WORKFLOW,
        SYNC_SCHEDULES_WORKFLOW,
        REQUEST_OPERATION_WORKFLOW,
    }
    assert {*WORKFLOW_OF_KIND.values(), *others} <= recorded
