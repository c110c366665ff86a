"""``python -m tests.chaos``: random rounds or a sweep, a line for each, a table at the end."""

import argparse
import asyncio
import random
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from jeroboam.models import OperationKind
from tests.chaos.cloud.world import opener
from tests.chaos.fake_world import opened
from tests.chaos.report import Report
from tests.chaos.run import Options, run
from tests.chaos.sweep import KINDS, Extent


def main() -> int:
    """Run; the exit code tells whether anything was found."""
    parser = argparse.ArgumentParser(prog="make chaos ARGS=...", description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", default=None, help="what to repeat; by default a new one")
    parser.add_argument("--lanes", type=int, help="clusters at the same time: 16, --cloud: 2")
    parser.add_argument("--operations", type=int, default=4, help="between create and delete")
    parser.add_argument("--first", type=int, default=0, help="number of the first cluster")
    parser.add_argument("--seconds", type=float, default=3600.0, help="begin nothing after that")
    parser.add_argument("--sweep", action="store_true", help="all points, one after the other")
    parser.add_argument("--kinds", type=_kinds, default=KINDS, help="of a sweep: KIND,KIND,...")
    parser.add_argument("--port-base", type=int, default=22000)
    parser.add_argument("--cloud", action="store_true", help="on a devcloud; takes 200 ports")
    parser.add_argument("--sqlite", action="store_true", help="no database process to kill")
    parser.add_argument("--directory", type=Path, default=None, help="where to work; is kept")
    given = parser.parse_args()
    if given.cloud and given.sweep:
        parser.error("a sweep is for the pretended backend only")
    seed = given.seed or str(random.SystemRandom().randrange(10**6))
    directory = given.directory or Path(tempfile.mkdtemp(prefix="jeroboam-chaos-"))
    directory.mkdir(parents=True, exist_ok=True)
    sys.stdout.write(f"seed {seed}, in {directory}\n")
    options = Options(
        rounds=given.rounds,
        seed=seed,
        directory=directory,
        lanes=given.lanes or (2 if given.cloud else 16),
        operations=given.operations,
        first=given.first,
        seconds=given.seconds,
        port_base=given.port_base,
        postgres=not given.sqlite,
        world=opener(given.port_base + 100, seed) if given.cloud else opened,
        sweep=Extent(kinds=given.kinds) if given.sweep else None,
    )
    report, table = asyncio.run(_until_stopped(options))
    sys.stdout.write(f"\n{table}\n")
    for missed in report.missed if given.sweep else ():
        sys.stdout.write(f"never struck: {missed}\n")
    found = bool(report.problems or (given.sweep and report.missed))
    if not found and given.directory is None:
        shutil.rmtree(directory, ignore_errors=True)
    return int(found)


async def _until_stopped(options: Options) -> tuple[Report, str]:
    """Run; a signal must not leave behind what was started."""
    task = asyncio.ensure_future(run(options))
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await task


def _kinds(text: str) -> list[OperationKind]:
    return [OperationKind(name) for name in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
