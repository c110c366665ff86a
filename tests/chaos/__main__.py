"""``python -m tests.chaos``: random rounds, a line for each, and a table at the end."""

import argparse
import asyncio
import random
import shutil
import sys
import tempfile
from pathlib import Path

from tests.chaos.run import Options, run


def main() -> int:
    """Run; the exit code tells whether anything was found."""
    parser = argparse.ArgumentParser(prog="make chaos ARGS=...", description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", default=None, help="what to repeat; by default a new one")
    parser.add_argument("--lanes", type=int, default=16, help="clusters at the same time")
    parser.add_argument("--operations", type=int, default=4, help="between create and delete")
    parser.add_argument("--first", type=int, default=0, help="number of the first cluster")
    parser.add_argument("--seconds", type=float, default=3600.0, help="begin nothing after that")
    parser.add_argument("--port-base", type=int, default=22000)
    parser.add_argument("--sqlite", action="store_true", help="no database process to kill")
    parser.add_argument("--directory", type=Path, default=None, help="where to work; is kept")
    given = parser.parse_args()
    seed = given.seed or str(random.SystemRandom().randrange(10**6))
    directory = given.directory or Path(tempfile.mkdtemp(prefix="jeroboam-chaos-"))
    directory.mkdir(parents=True, exist_ok=True)
    sys.stdout.write(f"seed {seed}, in {directory}\n")
    options = Options(
        rounds=given.rounds,
        seed=seed,
        directory=directory,
        lanes=given.lanes,
        operations=given.operations,
        first=given.first,
        seconds=given.seconds,
        port_base=given.port_base,
        postgres=not given.sqlite,
    )
    report, table = asyncio.run(run(options))
    sys.stdout.write(f"\n{table}\n")
    if not report.problems and given.directory is None:
        shutil.rmtree(directory, ignore_errors=True)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
