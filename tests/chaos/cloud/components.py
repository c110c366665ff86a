"""What can be killed of a cloud: a service, and the network towards all of them."""

import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from datetime import datetime

from devcloud import Devcloud, DevcloudError
from jeroboam.models import utc_now
from tests.acceptance.stack import answers
from tests.conftest import CHECKOUT

START_SECONDS = 30.0
START_TRIES = 3


@dataclass
class Service:
    """One service of the cloud, with all of its parts: API and engine are one process.

    Args:
        absences: From when until when it was away; without an end as long as it is.
    """

    cloud: Devcloud
    name: str
    absences: list[tuple[datetime, datetime | None]] = field(default_factory=list)

    def start(self) -> None:
        """Start it; on a busy machine that may take more than one attempt."""
        for left in reversed(range(START_TRIES)):
            try:
                self.cloud.start_service(self.name)
                break
            except DevcloudError:
                if not left:
                    raise
        if self.absences:
            self.absences[-1] = (self.absences[-1][0], utc_now())

    def kill(self) -> None:
        """Let it crash."""
        self.absences.append((utc_now(), None))
        self.cloud.kill_service(self.name)

    def was_away(self, since: datetime, until: datetime) -> bool:
        """Return whether it was away at any time between two."""
        return any(begin <= until and (end is None or end >= since) for begin, end in self.absences)


@dataclass
class Network:
    """The way from the product to the cloud.

    Args:
        port: Of the proxy through which all of the product's requests go.
        chance: Decides whether connections break, or nothing moves on them.
    """

    port: int
    chance: random.Random
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The proxy, for ``http_proxy``."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Open a new way; what was held in the old one is lost."""
        self.stop()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.cloud.network", str(self.port)], cwd=CHECKOUT
        )
        deadline = time.monotonic() + START_SECONDS
        while not answers(self.url):
            assert time.monotonic() < deadline, "the proxy does not come up"
            time.sleep(0.05)

    def kill(self) -> None:
        """Cut it."""
        if self.process:
            self.process.send_signal(self.chance.choice((signal.SIGKILL, signal.SIGSTOP)))

    def stop(self) -> None:
        """End it."""
        if self.process:
            self.process.kill()
            self.process.wait()
