"""A worker of its own process, to be killed: ``python -m ... <Temporal> <queue> <directory>``."""

import asyncio
import sys
from pathlib import Path

from jeroboam import temporal
from jeroboam.settings import Settings
from jeroboam.workflows import limits
from tests.chaos.worker import hasten, replace
from tests.integration.engine import running_engine


async def main(address: str, queue: str, directory: str) -> None:
    """Work until killed; the death of its predecessor is noticed within seconds."""
    hasten()
    replace(limits, "ACCEPT_ATTEMPT", limits.RECORD_ATTEMPT)
    client = await temporal.connect_when_up(Settings(temporal_address=address))
    async with running_engine(client, Path(directory), queue=queue):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
