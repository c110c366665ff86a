"""How long a newcomer waits for the first cluster.

Clones the checkout into a folder, gives the installers empty caches, and runs the quickstart
three times: cold (nothing installed, nothing cached), warm with a new cluster, and warm with the
cluster that is there. Prints seconds, and the load of the machine before each run.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
PORT_BASE = 31000
RUNS = (
    ("cold, a first cluster", "--once"),
    ("warm, one more cluster", "--once --new"),
    ("warm, the same cluster", "--once"),
)


def main() -> int:
    """Run all three and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, help="where to work; it is removed in the end")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="quickstart-"))
    clone = folder / "jeroboam"
    subprocess.run(["git", "clone", "--quiet", str(CHECKOUT), str(clone)], check=True)
    environment = os.environ | {
        "UV_CACHE_DIR": str(folder / "uv"),
        "PIP_CACHE_DIR": str(folder / "pip"),
    }
    # A newcomer's Python keeps what it has compiled.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        print(f"{'run':26} {'until ready':>12} {'command':>9} {'load before':>12}")
        for title, arguments in RUNS:
            _measure(title, arguments, clone, environment)
        subprocess.run(["make", "--silent", "clean"], cwd=clone, check=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def _measure(title: str, arguments: str, clone: Path, environment: dict[str, str]) -> None:
    load = os.getloadavg()[0]
    started = time.monotonic()
    done = subprocess.run(
        ["make", "quickstart", f"ARGS={arguments} --port-base {PORT_BASE}"],
        cwd=clone,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    took = time.monotonic() - started
    if done.returncode:
        raise SystemExit(f"{title} failed:\n{done.stdout}\n{done.stderr}")
    ready = re.search(r"CREATE_COMPLETE \((.+) in all\)", done.stdout)
    print(f"{title:26} {ready[1] if ready else '?':>12} {took:7.0f} s {load:12.1f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
