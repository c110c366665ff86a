"""The parts of the cloud's world: draws that fit, and a network that can be cut."""

import random
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devcloud import Devcloud
from jeroboam.models import OperationKind, utc_now
from tests.chaos.cloud import faults, wishes
from tests.chaos.cloud.components import Network, Service
from tests.chaos.faults import Outcome
from tests.chaos.rules import Act
from tests.chaos.test_parts import living, plan_of
from tests.conftest import free_port

MINUTE = timedelta(minutes=1)

seeds = st.integers(0, 10**9)


@given(seeds)
@settings(deadline=None)
def test_every_fault_is_a_rule_of_the_cloud(seed: int) -> None:
    """What is drawn strikes where there is a step, and is a rule that a devcloud takes."""
    chance = random.Random(seed)
    spec = living(chance)
    kind, parameters = wishes.wish(chance, spec, (spec.template.uuid, "next"))
    plan = plan_of(kind, parameters, spec)
    fault = faults.draw(chance, plan, faults.COMPONENTS)
    if fault.labels:
        rule = faults.rule(fault.labels, "mark")
        assert rule.target == "api" or rule.concerns(name="x-mark-0")
        assert rule.target == "api" or not rule.concerns(name="x-other-0")
    struck = {strike.act for strike in fault.strikes}
    assert not (Act.NOVA in struck and fault.outcome is Outcome.WELL)


@given(seeds)
@settings(deadline=None)
def test_clusters_stay_small(seed: int) -> None:
    """No wish makes the cluster larger than the machine can bear."""
    chance = random.Random(seed)
    spec = living(chance)
    kind, parameters = wishes.wish(chance, spec, (spec.template.uuid,))
    if kind in {OperationKind.RESIZE, OperationKind.UPDATE}:
        assert (parameters.node_count or 0) <= wishes.MOST_WORKERS
        assert spec.group(parameters.node_group or spec.workers[0].uuid).role != "master"
    if parameters.group and kind is OperationKind.CREATE_NODE_GROUP:
        assert parameters.group.node_count == 1


class Cloud(BaseHTTPRequestHandler):
    """Answers with what it was asked."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        text = f"{self.path} {body.decode()}".encode()
        self.send_response(201)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base's
        """Say nothing."""


@pytest.fixture
def upstream() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Cloud)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def network() -> Iterator[Network]:
    made = Network(free_port(), random.Random(0))
    made.start()
    yield made
    made.stop()


def ask(network: Network, url: str) -> str:
    proxies = urllib.request.ProxyHandler({"http": network.url})
    request = urllib.request.Request(f"{url}/a?b=c", data=b"body", method="POST")
    with urllib.request.build_opener(proxies).open(request, timeout=2) as answer:
        assert answer.status == 201
        return str(answer.read().decode())


@pytest.mark.parametrize("seed", [0, 1])
def test_the_network_is_cut_and_comes_back(network: Network, upstream: str, seed: int) -> None:
    """All passes unchanged; nothing does while it is cut, whichever way; then all does again."""
    network.chance = random.Random(seed)
    assert ask(network, upstream) == "/a?b=c body"
    network.kill()
    with pytest.raises(OSError, match=r"refused|reset|timed out"):
        ask(network, upstream)
    network.start()
    assert ask(network, upstream) == "/a?b=c body"


def test_absences_are_remembered() -> None:
    """What was away during an operation is known; what came back before it does not count."""
    service = Service(Devcloud(), "nova")
    begin = utc_now()
    service.absences = [(begin, begin + MINUTE), (begin + 5 * MINUTE, None)]
    assert service.was_away(begin - MINUTE, begin)
    assert service.was_away(begin + MINUTE, begin + 2 * MINUTE)
    assert not service.was_away(begin + 2 * MINUTE, begin + 3 * MINUTE)
    assert service.was_away(begin + 6 * MINUTE, begin + 7 * MINUTE)
