"""The baseline of ``engine.py``: a worker whose workflow only executes no-op activities."""

import asyncio
import sys
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import Worker

QUEUE = "bare"
TIMEOUT = timedelta(seconds=30)


@activity.defn
async def nothing(number: int) -> int:
    """Do nothing."""
    return number


@workflow.defn
class Bare:
    """As many activities as a create has, and nothing else."""

    @workflow.run
    async def run(self, activities: int, local_activities: int) -> None:
        """Execute them one after another."""
        for number in range(activities):
            await workflow.execute_activity(nothing, number, start_to_close_timeout=TIMEOUT)
        for number in range(local_activities):
            await workflow.execute_local_activity(nothing, number, start_to_close_timeout=TIMEOUT)


async def work(address: str) -> None:
    """Work until the process is ended."""
    client = await Client.connect(address)
    async with Worker(client, task_queue=QUEUE, workflows=[Bare], activities=[nothing]):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1]))
