"""The worker process, with less patience than operators get.

In a removal by force, and with a cluster that shall take up another user.
"""

from datetime import timedelta

from jeroboam.activities import waiting
from jeroboam.cli import processes
from jeroboam.models import rotation, work
from tests.chaos.worker import replace

if __name__ == "__main__":
    replace(work, "FORCED_SECONDS", 20)
    replace(rotation, "HAND_SECONDS", 5)
    replace(waiting, "FORCED_SILENCE", timedelta(seconds=5))
    processes.worker()
