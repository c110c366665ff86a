"""The services of the compose file as processes: PostgreSQL, Temporal, one API, two workers."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from openstack.connection import Connection

from devcloud import Devcloud
from jeroboam.models.wire import workflow_id
from tests.acceptance.stack import Process, Stack, running_stack, wait_for
from tests.conftest import free_port
from tests.integration.store.conftest import running_postgres

CLUSTERS = 10
BUILD_SECONDS = 20
"""Long enough for all clusters to be under way at the same time, also on a busy machine."""

KEY = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
HEARTBEAT_TIMEOUT = 60
"""Seconds after which Temporal gives up a worker that was killed; ``limits.WAIT_HEARTBEAT``."""

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


@pytest.fixture(scope="module")
def stack(cloud: Devcloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_postgres() as postgres:
        url = postgres.url(asyncio.run(postgres.create_database()))
        directory = tmp_path_factory.mktemp("two-workers")
        secrets = {"JEROBOAM_DATABASE_URL": url, "JEROBOAM_SECRETS_KEY": KEY}
        with running_stack(cloud, directory, **secrets) as stack:
            yield stack


@pytest.fixture
def workers(stack: Stack) -> Iterator[tuple[Process, Process]]:
    """The stack's own worker and a second one, both running."""
    port = free_port()
    second = Process(
        "second-worker",
        stack.worker.command,
        {**stack.environment, "JEROBOAM_WORKER_HEALTH_PORT": str(port)},
        stack.directory / "second-worker.log",
        f"http://127.0.0.1:{port}/",
    )
    second.start()
    if stack.worker.process is None or stack.worker.process.poll() is not None:
        stack.worker.start()
    yield stack.worker, second
    second.kill()


@pytest.fixture
def clusters(stack: Stack, workers: tuple[Process, Process]) -> Iterator[list[str]]:
    """Clusters of the fake driver, all of which wait for their backend."""
    connection = stack.connect()
    magnum = connection.container_infrastructure_management
    template = magnum.create_cluster_template(name="many", coe="kubernetes", image_id="fake-os")
    labels = {"fake_create_seconds": str(BUILD_SECONDS), "fake_delete_seconds": "0"}

    def create(number: int) -> str:
        cluster = magnum.create_cluster(
            name=f"many-{number}", cluster_template_id=template.id, labels=labels
        )
        return str(cluster.id)

    with ThreadPoolExecutor(CLUSTERS) as threads:
        created = list(threads.map(create, range(CLUSTERS)))
    wait_for(lambda: sum(holders(stack, created).values()) == CLUSTERS, BUILD_SECONDS, "all wait")
    yield created
    for cluster in created:
        magnum.delete_cluster(cluster)
    wait_for(lambda: not list(magnum.clusters()), 60, "all clusters are gone")
    magnum.delete_cluster_template(template.id)
    assert backend(stack) == {}


def holders(stack: Stack, clusters: list[str]) -> Counter[int]:
    """Count the waits by the process which has them, as Temporal knows it."""

    async def ask() -> Counter[int]:
        client = await stack.temporal.client()
        found: Counter[int] = Counter()
        for cluster in clusters:
            described = await client.get_workflow_handle(workflow_id(cluster)).describe()
            for activity in described.raw_description.pending_activities:
                if activity.activity_type.name == "wait_for_backend":
                    found[int(activity.last_worker_identity.partition("@")[0] or 0)] += 1
        return found

    return asyncio.run(ask())


def backend(stack: Stack) -> dict[str, int]:
    """Return how often each pretended cluster was submitted."""
    files = (stack.directory / "fake").glob("*.json")
    return {path.stem: json.loads(path.read_text())["submissions"] for path in files}


def finish(connection: Connection, clusters: list[str], seconds: float) -> None:
    """Wait until all creates have ended well."""
    magnum = connection.container_infrastructure_management

    def complete() -> bool:
        found = {str(one.id): str(one.status) for one in magnum.clusters()}
        assert found.keys() == set(clusters)
        assert not any(status.endswith("FAILED") for status in found.values()), found
        return set(found.values()) == {"CREATE_COMPLETE"}

    wait_for(complete, seconds, "all creates end")


def choose(stack: Stack, clusters: list[str], workers: tuple[Process, Process]) -> Process:
    """Return the worker that has more of the waits."""
    pid, waits = holders(stack, clusters).most_common(1)[0]
    assert waits > 0
    return next(one for one in workers if one.process and one.process.pid == pid)


def test_a_stopping_worker_hands_its_waits_over_at_once(
    stack: Stack, workers: tuple[Process, Process], clusters: list[str]
) -> None:
    """One of two workers stops in good order; the other goes on, and each cluster exists once."""
    assert choose(stack, clusters, workers).stop() == 0
    finish(stack.connect(), clusters, HEARTBEAT_TIMEOUT - 15)
    assert backend(stack) == dict.fromkeys(clusters, 1)


def test_a_killed_worker_loses_nothing(
    stack: Stack, workers: tuple[Process, Process], clusters: list[str]
) -> None:
    """One of two workers is killed; the other ends its creates, and each cluster exists once."""
    choose(stack, clusters, workers).kill()
    finish(stack.connect(), clusters, HEARTBEAT_TIMEOUT + 30)
    assert backend(stack) == dict.fromkeys(clusters, 1)


def test_both_workers_log_no_defect(stack: Stack) -> None:
    """What happened above was no surprise to any process."""
    for log in Path(stack.directory).glob("*.log"):
        if log.name != "temporal.log":
            assert "_defect" not in log.read_text(), log
