"""Records the histories that ``test_replay`` replays.

Run ``python -m tests.replay.record`` after a change of a workflow that is meant to break old runs
never: add the new files and keep the old ones, since runs that began before an upgrade end after
it.
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from jeroboam import __version__, temporal
from tests.conftest import TemporalServer, free_port
from tests.integration.engine import Engine, running_engine

HISTORIES = Path(__file__).with_name("histories")


async def record() -> None:
    """Run each kind of operation once and keep its history."""
    with tempfile.TemporaryDirectory() as name:
        server = TemporalServer(Path(name), free_port())
        server.start()
        try:
            client = await server.client()
            await temporal.register_search_attributes(client)
            async with running_engine(client, Path(name) / "state") as engine:
                await _succeed(engine)
                await _fail(engine)
                await _supersede(engine)
        finally:
            server.kill()


async def _succeed(engine: Engine) -> None:
    spec = await engine.create(labels={"fake_interruptions": "1"})
    cluster = await engine.settled(spec)
    run = engine.run(spec)
    await run.result()
    await _keep(engine, cluster.uuid, "create")
    await engine.delete(cluster)
    await engine.gone(spec)
    await run.result()
    await _keep(engine, cluster.uuid, "delete")


async def _fail(engine: Engine) -> None:
    spec = await engine.create(rollback=True, labels={"fake_fail": "create"})
    await engine.settled(spec)
    await asyncio.sleep(1)
    await _keep(engine, spec.cluster.uuid, "create-rolled-back")


async def _supersede(engine: Engine) -> None:
    spec = await engine.create(labels={"fake_create_seconds": "60"})
    await engine.until(spec, lambda cluster: cluster.stack_id is not None)
    await engine.delete(spec.cluster)
    await engine.gone(spec)
    await engine.run(spec).result()
    await _keep(engine, spec.cluster.uuid, "create-superseded")


async def _keep(engine: Engine, cluster_id: str, what: str) -> None:
    handle = engine.client.get_workflow_handle(f"cluster/{cluster_id}")
    history = json.loads((await handle.fetch_history()).to_json())
    text = json.dumps(_without_place(history), indent=1)
    (HISTORIES / f"{__version__}-{what}.json").write_text(text + "\n")
    sys.stdout.write(f"{what}: {len(text)} characters\n")


def _without_place(part: Any) -> Any:
    """Drop what only says where it was recorded; a replay does not look at it."""
    if isinstance(part, dict):
        return {
            name: _without_place(value)
            for name, value in part.items()
            if name not in {"stackTrace", "identity"}
        }
    return [_without_place(one) for one in part] if isinstance(part, list) else part


if __name__ == "__main__":
    HISTORIES.mkdir(exist_ok=True)
    asyncio.run(record())
