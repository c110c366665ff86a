"""``make clean``: stops what runs here and removes all that the other verbs made.

Standard library only; it has to work when the environment is broken or gone.
"""

import shutil
import signal
import sys
import time
from pathlib import Path

from devcloud.cloud import Devcloud
from devcloud.errors import DevcloudError
from devcloud.process import Recorded, stop
from quickstart.instance import holder
from quickstart.layout import CHECKOUT, Layout

PATIENCE_SECONDS = 30.0
CACHES = (".venv", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", "dist", "build")
CACHES_ANYWHERE = ("__pycache__", ".import_linter_cache")


def main() -> int:
    """Stop and remove; what is not there is no error."""
    try:
        for home in _homes(".jeroboam"):
            _stop_quickstart(Layout(home.name.removeprefix(".jeroboam").removeprefix("-")))
        for home in _homes(".devcloud"):
            _destroy_cloud(home)
        _remove()
    except (DevcloudError, OSError) as error:
        sys.stderr.write(f"make clean: {error}\n")
        return 1
    return 0


def _homes(prefix: str) -> list[Path]:
    """Return the folders of all quickstarts of this checkout."""
    return [p for p in (CHECKOUT / prefix, *CHECKOUT.glob(f"{prefix}-*")) if p.is_dir()]


def _stop_quickstart(layout: Layout) -> None:
    """Ask a running quickstart to stop, then stop what a killed one has left."""
    running = holder(layout)
    if running:
        _say(f"stopping the quickstart in {layout.home.name} (process {running.pid})")
        running.signal(signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while running.alive() and time.monotonic() < deadline:
            time.sleep(0.1)
    records = layout.run.glob("*.json")
    left = [process for record in records if (process := Recorded.load(record))]
    stop(left)


def _destroy_cloud(home: Path) -> None:
    if (home / "devcloud.json").exists():
        _say(f"removing {home.name}")
        Devcloud(home, report=lambda _: None).destroy()
    shutil.rmtree(home, ignore_errors=True)


def _remove() -> None:
    found = [*_homes(".jeroboam"), *(CHECKOUT / name for name in CACHES)]
    for path in found:
        if path.exists():
            _say(f"removing {path.name}")
            shutil.rmtree(path)
    for name in CACHES_ANYWHERE:
        for path in CHECKOUT.rglob(name):
            shutil.rmtree(path, ignore_errors=True)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
