"""The worker process, with less patience in a removal by force than operators give it."""

from datetime import timedelta

from jeroboam.activities import waiting
from jeroboam.cli import processes
from jeroboam.models import work
from tests.chaos.worker import replace

if __name__ == "__main__":
    replace(work, "FORCED_SECONDS", 20)
    replace(waiting, "FORCED_SILENCE", timedelta(seconds=5))
    processes.worker()
