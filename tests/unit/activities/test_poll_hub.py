"""The poll hub shares one call among all who wait."""

import asyncio
from collections.abc import Mapping, Sequence

from jeroboam.activities.poll_hub import PollHub
from jeroboam.drivers.base import CloudAccess, Phase, Poller, Progress, Watch
from jeroboam.errors import CloudUnavailableError, JeroboamError
from jeroboam.models import Method
from tests.fakes import NoCloud


class CountingPoller(Poller):
    """Counts its calls; answers, refuses or breaks as told."""

    calls = 0
    watched: int = 0
    failure: Exception | None = None

    def poll(self, cloud: CloudAccess, watches: Sequence[Watch]) -> Mapping[str, Progress]:
        self.calls += 1
        self.watched = len(watches)
        if self.failure:
            raise self.failure
        return {
            watch.cluster_id: Progress(phase=Phase.RUNNING, message=watch.cluster_id)
            for watch in watches
        }


def watch(name: str) -> Watch:
    return Watch(
        cluster_id=name,
        project_id="p",
        trust_id=None,
        backend_id=None,
        method=Method.CREATE_CLUSTER,
        key=f"{name}:o:Submit",
    )


async def test_one_call_serves_all() -> None:
    """A hundred waiting operations cost one call an interval, and each gets its own answer."""
    hub, poller = PollHub(0.05), CountingPoller()

    async def wait(name: str) -> None:
        async with hub.watching(NoCloud(), poller, watch(name)) as answers:
            for _ in range(3):
                answer = await answers.get()
                assert isinstance(answer, Progress)
                assert answer.message == name

    await asyncio.gather(*(wait(f"c{number}") for number in range(100)))
    assert poller.watched == 100
    assert poller.calls <= 5


async def test_silence_is_told_to_all_and_ends() -> None:
    """When the backend does not answer, all are told, and the hub asks on."""
    hub, poller = PollHub(0.02), CountingPoller()
    poller.failure = CloudUnavailableError("down")
    async with hub.watching(NoCloud(), poller, watch("a")) as answers:
        assert isinstance(await answers.get(), CloudUnavailableError)
        poller.failure = None
        while isinstance(await answers.get(), JeroboamError):
            pass


async def test_a_defect_does_not_end_the_round() -> None:
    """A poller that breaks on one round is asked again; nobody waits for ever."""
    hub, poller = PollHub(0.02), CountingPoller()
    poller.failure = KeyError("defect")
    async with hub.watching(NoCloud(), poller, watch("a")) as answers:
        assert isinstance(await answers.get(), JeroboamError)
        poller.failure = None
        while isinstance(await answers.get(), JeroboamError):
            pass


async def test_a_slow_reader_sees_the_present() -> None:
    """Answers do not pile up: the queue holds the newest one."""
    hub, poller = PollHub(0.01), CountingPoller()
    async with hub.watching(NoCloud(), poller, watch("a")) as answers:
        await asyncio.sleep(0.2)
        assert poller.calls > 3
        assert answers.qsize() == 1


async def test_nobody_waits_nobody_asks() -> None:
    """The calls end with the last watch, and begin again with the next."""
    hub, poller = PollHub(0.01), CountingPoller()
    for _ in range(2):
        async with hub.watching(NoCloud(), poller, watch("a")) as answers:
            await answers.get()
        calls = poller.calls
        await asyncio.sleep(0.1)
        assert poller.calls <= calls + 1
