"""Clients that send too much, too slowly, or what no client should send, on the API as a process.

Somebody else works all the while, and must not notice.
"""

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import httpx
import psutil
import pytest

from devcloud import Devcloud
from tests import logins
from tests.acceptance.raw_client import Answer, RawClient
from tests.acceptance.stack import Stack
from tests.conftest import TemporalServer, free_port

REQUEST_SECONDS = 1.5
"""How long a client may take for a request; far more in an installation."""

SLOWEST_FOR_OTHERS = 5.0
MOST_GROWTH = 200e6
"""Bytes; bodies, headers and connections of all these tests are many times as much."""

MEGABYTE = 1 << 20
TEMPLATE = {"name": "hostile", "coe": "kubernetes", "image_id": "fake-os"}

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def stack(cloud: Devcloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """An API alone: what is refused here needs neither worker nor Temporal."""
    directory = tmp_path_factory.mktemp("hostile")
    settings = {
        "JEROBOAM_REQUEST_SECONDS": str(REQUEST_SECONDS),
        "JEROBOAM_MAX_CONNECTIONS": "700",
        "JEROBOAM_MAX_CLUSTERS_PER_PROJECT": "1000",
    }
    stack = Stack(cloud, TemporalServer(directory, free_port()), directory, settings)
    stack.api.start()
    yield stack
    stack.api.kill()


@pytest.fixture(scope="module")
def client(stack: Stack) -> RawClient:
    return RawClient(stack.url, logins.token_of(stack.connect("demo").session))


@pytest.fixture(scope="module", autouse=True)
def bystander(stack: Stack, client: RawClient) -> Iterator[Callable[[], None]]:
    """Another tenant's requests are answered in time, and the process does not grow."""
    assert stack.api.process
    process = psutil.Process(stack.api.process.pid)
    token = logins.token_of(stack.connect("demo").session)
    before, stop, times = process.memory_info().rss, threading.Event(), [0.0]
    grown = 0

    def work() -> None:
        with httpx.Client(base_url=stack.url, headers={"X-Auth-Token": token}) as other:
            while not stop.wait(0.1):
                started = time.monotonic()
                assert other.get("/v1/clusters?limit=1", timeout=30).status_code == 200
                times.append(time.monotonic() - started)

    with ThreadPoolExecutor(1) as threads:
        done = threads.submit(work)

        def leave() -> None:
            nonlocal grown
            if not stop.is_set():
                stop.set()
                done.result()
                grown = process.memory_info().rss - before

        yield leave
        leave()
    assert grown < MOST_GROWTH
    assert len(times) > 10
    assert max(times) < SLOWEST_FOR_OTHERS
    assert "request_defect" not in stack.api.log.read_text()
    assert "Traceback" not in stack.api.log.read_text()


def template_with(text: bytes) -> bytes:
    return b'{"name": "t", "coe": "kubernetes", "image_id": "fake-os", ' + text + b"}"


BODIES: dict[str, tuple[bytes, tuple[str, ...], int, str]] = {
    "ten megabytes": (b'{"name": "' + b"x" * 10 * MEGABYTE + b'"}', (), 413, "larger than"),
    "list 100,000 deep": (b"[" * 100_000 + b"]" * 100_000, (), 400, "deeper than"),
    "object 100,000 deep": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, (), 400, "deeper than"),
    "object 90 deep": (template_with(b'"links":' + b"[" * 90 + b"]" * 90), (), 400, "deeper than"),
    "300,000 values": (b"[" + b"{}," * 300_000 + b"{}]", (), 400, "values"),
    "100,000 attributes": (
        b"{" + b",".join(b'"%x":1' % number for number in range(80_000)) + b"}",
        *((), 400, "values"),
    ),
    "9,000 wrong attributes": (
        b"{" + b",".join(b'"%x":{}' % number for number in range(9_000)) + b"}",
        *((), 400, "Unknown attribute|Mandatory field"),
    ),
    "no UTF-8": (template_with(b'"labels": {"a": "\xff\xfe"}'), (), 400, "UTF-8"),
    "UTF-16": (json.dumps(TEMPLATE).encode("utf-16"), (), 400, "UTF-8"),
    "half a surrogate pair": (template_with(b'"labels": {"\\ud800": "1"}'), (), 400, "surrogate"),
    "NUL": (template_with(b'"labels": {"a": "\\u0000"}'), (), 400, "NUL"),
    "twice the same key": (template_with(b'"name": "u"'), (), 400, "'name' is there twice"),
    "NaN": (template_with(b'"labels": {"a": NaN}'), (), 400, "NaN"),
    "Infinity": (template_with(b'"docker_volume_size": Infinity'), (), 400, "Infinity"),
    "a number without end": (template_with(b'"apiserver_port": ' + b"9" * 5000), (), 400, "JSON"),
    "a large number": (template_with(b'"apiserver_port": ' + b"9" * 4000), (), 400, "apiserver"),
    "too large a float": (template_with(b'"labels": {"a": 1e999}'), (), 400, "too large"),
    "gzip bomb": (
        gzip.compress(b"0" * 50 * MEGABYTE),
        *(("Content-Encoding: gzip",), 415, "encoded as gzip"),
    ),
    "gzip that is not said": (gzip.compress(json.dumps(TEMPLATE).encode()), (), 400, "UTF-8"),
    "XML": (b"<a/>", ("Content-Type: application/xml",), 415, "application/xml"),
    "a form": (b"a=1", ("Content-Type: multipart/form-data; boundary=x",), 415, "multipart"),
    "a long type": (b"{}", ("Content-Type: " + "x" * 9000,), 415, "Unknown mimetype"),
    "nothing but spaces": (b" " * MEGABYTE, (), 400, "JSON"),
    "not an object": (b'"text"', (), 400, "body|valid"),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_are_refused(client: RawClient, name: str) -> None:
    """Too large, too deep, ambiguous, or not what it says: each is told by a sentence."""
    body, headers, status, words = BODIES[name]
    answer = client.send(client.body("POST", "/v1/clustertemplates", body, *headers))
    assert answer.statuses == [status], answer.raw[:500]
    assert any(word in answer.error["detail"] for word in words.split("|")), answer.error
    assert len(answer.raw) < 2000


@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    "path", ["/v1/clusters", "/v1/clusters/x", "/v1/quotas", "/v1/schedules", "/v1/nowhere"]
)
def test_every_route_takes_a_bad_body(client: RawClient, method: str, path: str) -> None:
    """A body that cannot be read is the client's error wherever it is sent."""
    answer = client.send(client.body(method, path, b'{"a": \xff'))
    assert len(answer.statuses) == 1
    assert 400 <= answer.statuses[0] < 500


HEADS: dict[str, tuple[Callable[[RawClient], bytes], set[int]]] = {
    "a thousand headers": (
        lambda one: one.head(
            "GET", "/v1", "Connection: close", *(f"X-A{number}: 1" for number in range(1000))
        ),
        {431},
    ),
    "a header of a megabyte": (
        lambda one: one.head("GET", "/v1", "X-A: " + "x" * MEGABYTE, "Connection: close"),
        {431},
    ),
    "a token of 15 kB": (
        lambda one: raw_get("/v1/clusters", "X-Auth-Token: " + "x" * 15_000),
        {401},
    ),
    "a URL of 12 kB": (
        lambda one: one.head("GET", "/v1/clusters/" + "x" * 12_000, "Connection: close"),
        {414},
    ),
    "a URL of a megabyte": (
        lambda one: one.head("GET", "/v1/" + "x" * MEGABYTE, "Connection: close"),
        {414, 431},
    ),
    "a query of 1,000 arguments": (
        lambda one: one.head("GET", "/v1/clusters?" + "&".join(f"a{n}=1" for n in range(1000))),
        {400},
    ),
    "a limit without end": (
        lambda one: one.head("GET", "/v1/clusters?limit=" + "9" * 6000, "Connection: close"),
        {400},
    ),
    "NUL in the path": (
        lambda one: one.head("GET", "/v1/clusters/a%00b", "Connection: close"),
        {400},
    ),
    "NUL in the query": (
        lambda one: one.head("GET", "/v1/operations?cluster=%00", "Connection: close"),
        {400},
    ),
    "no UTF-8 in the path": (
        lambda one: one.head("GET", "/v1/clusters/%ff%fe", "Connection: close"),
        {404},
    ),
    "no UTF-8 in the query": (
        lambda one: one.head("GET", "/v1/operations?cluster=%ff", "Connection: close"),
        {404},
    ),
    "dots in the path": (
        lambda one: one.head("GET", "/v1/clusters/..%2f..%2fetc", "Connection: close"),
        {404},
    ),
    "bytes in the URL": (lambda one: one.head("GET", "/v1/\xff", "Connection: close"), {400}),
    "a bad Host": (lambda one: raw_get("/v1", "Host: [", without_host=True), {200, 400}),
    "no Host": (lambda one: raw_get("/v1", without_host=True), {400}),
    "no HTTP": (lambda one: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\r\n" * 3, {400}),
    "HTTP/2": (lambda one: b"PRI * HTTP/2.0\r\nConnection: close\r\n\r\n", {400, 401}),
    "a header without a colon": (
        lambda one: one.head("GET", "/v1", "nonsense", "Connection: close"),
        {400},
    ),
    "a folded header": (
        lambda one: one.head("GET", "/v1/clusters?limit=1", "X-A: 1\r\n 2", "Connection: close"),
        {200, 400},
    ),
    "a space before the colon": (
        lambda one: one.head("GET", "/v1", "Content-Length : 3", "Connection: close"),
        {400},
    ),
    "two lengths": (
        lambda one: one.head("POST", "/v1/clusters", "Content-Length: 2", "Content-Length: 9"),
        {400},
    ),
    "a negative length": (
        lambda one: one.head("POST", "/v1/clusters", "Content-Length: -1"),
        {400},
    ),
    "a length of words": (
        lambda one: one.head("POST", "/v1/clusters", "Content-Length: ten"),
        {400},
    ),
    "a length without end": (
        lambda one: one.head("POST", "/v1/clusters", "Content-Length: " + "9" * 5000),
        {400, 413},
    ),
    "an unknown transfer coding": (
        lambda one: one.head("POST", "/v1/clusters", "Transfer-Encoding: zip"),
        {501},
    ),
    "a chunk of no size": (
        lambda one: one.head("POST", "/v1/clusters", "Transfer-Encoding: chunked") + b"zz\r\n\r\n",
        {400},
    ),
    "an upgrade": (
        lambda one: one.head(
            *("GET", "/v1/nowhere", "Connection: Upgrade, close", "Upgrade: websocket"),
            *("Sec-WebSocket-Key: x", "Sec-WebSocket-Version: 13"),
        ),
        {404},
    ),
    "OPTIONS": (lambda one: one.head("OPTIONS", "/v1/clusters", "Connection: close"), {405}),
    "HEAD": (lambda one: one.head("HEAD", "/v1/clusters", "Connection: close"), {405}),
    "TRACE": (lambda one: one.head("TRACE", "/v1/clusters", "Connection: close"), {405}),
    "CONNECT": (
        lambda one: one.head("CONNECT", "example.org:443", "Connection: close"),
        {404, 405},
    ),
    "a made-up method": (lambda one: one.head("BREW", "/v1/clusters", "Connection: close"), {405}),
    "OPTIONS of everything": (
        lambda one: one.head("OPTIONS", "*", "Connection: close"),
        {404, 405},
    ),
}


def raw_get(path: str, *headers: str, without_host: bool = False) -> bytes:
    lines = (f"GET {path} HTTP/1.1", *([] if without_host else ["Host: api"]), *headers)
    return "\r\n".join((*lines, "Connection: close")).encode() + b"\r\n\r\n"


@pytest.mark.parametrize("name", HEADS)
def test_heads_are_refused(client: RawClient, name: str) -> None:
    """Headers, URLs and methods that make no sense are answered, once, and nothing breaks."""
    build, statuses = HEADS[name]
    request = build(client)
    answer = client.send(request)
    assert answer.closed
    assert len(answer.statuses) == 1, answer.raw[:500]
    assert answer.statuses[0] in statuses, answer.raw[:500]


def in_time(answer: Answer) -> bool:
    return answer.closed and answer.seconds < REQUEST_SECONDS + 8


def test_slow_clients_are_cut_off(client: RawClient) -> None:
    """Headers or a body by drips, or none at all, have an end; what came early is told."""
    head = client.head("POST", "/v1/clusters", "Content-Type: application/json")
    length = client.head("POST", "/v1/clusters", "Content-Length: 1000000")
    chunked = client.head("POST", "/v1/clusters", "Transfer-Encoding: chunked")
    unread = client.head("POST", "/v1/nowhere", "Transfer-Encoding: chunked")
    requests = {
        "nothing": (b"", 0.0, []),
        "half a head": (head[:40], 0.0, [408]),
        "a head by drips": (head, 0.3, [408]),
        "no body": (length, 0.0, [408]),
        "half a body": (length + b"{" * 1000, 0.0, [408]),
        "chunks without an end": (chunked + b"1\r\n{\r\n" * 10, 0.0, [408]),
        "a body that nobody reads": (unread + b"1\r\n{\r\n", 0.0, [408]),
    }
    with ThreadPoolExecutor(len(requests)) as threads:
        waiting = {
            name: threads.submit(client.send, request, drip=drip)
            for name, (request, drip, _) in requests.items()
        }
    for name, (_, _, statuses) in requests.items():
        answer = waiting[name].result()
        assert in_time(answer), (name, answer)
        assert answer.statuses == statuses, (name, answer.raw)


def test_who_does_not_read_is_cut_off(stack: Stack, client: RawClient) -> None:
    """A client that asks and asks and reads nothing does not hold its answers in memory."""
    with client.connect() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        request = client.head("GET", "/openapi.json")
        deadline = time.monotonic() + 30
        while is_taken(connection, request):
            assert time.monotonic() < deadline
            time.sleep(0.02)


def is_taken(connection: socket.socket, request: bytes) -> bool:
    try:
        connection.sendall(request)
    except (BrokenPipeError, ConnectionResetError, TimeoutError):
        return False
    return True


def test_idle_connections_are_closed(client: RawClient) -> None:
    """Connections on which nothing comes go away, many at a time."""
    with ExitStack() as stack:
        idle = [stack.enter_context(client.connect()) for _ in range(300)]
        assert client.send(raw_get("/v1")).statuses == [200]
        deadline = time.monotonic() + REQUEST_SECONDS + 8
        for connection in idle:
            connection.settimeout(max(0.1, deadline - time.monotonic()))
            assert connection.recv(1) == b""


def test_too_many_connections_are_told_so(client: RawClient) -> None:
    """Beyond the operator's limit the answer is 503; when the others are gone all is well."""
    with ExitStack() as stack:
        for _ in range(710):
            stack.enter_context(client.connect())
        assert client.send(raw_get("/v1")).statuses == [503]
    time.sleep(0.5)
    assert client.send(raw_get("/v1")).statuses == [200]


def test_pipelined_requests_are_answered_in_order(client: RawClient) -> None:
    """Many requests in one packet have as many answers; what follows nonsense has none."""
    many = client.head("GET", "/v1") * 50 + raw_get("/v1/nowhere")
    assert client.send(many).statuses == [200] * 50 + [401]
    broken = client.head("GET", "/v1") + b"nonsense\r\n\r\n" + client.head("GET", "/v1")
    assert client.send(broken).statuses[:1] == [200]
    assert client.send(broken).statuses[1:] in ([], [400])


def test_five_hundred_requests_at_once(stack: Stack, client: RawClient) -> None:
    """Reads and refused creates, all at the same moment, have all their own answers."""
    read = client.head("GET", "/v1/clusters/detail", "Connection: close")
    wrong = client.body("POST", "/v1/clusters", b'{"name": "c", "colour": "red"}')
    with ThreadPoolExecutor(500) as threads:
        reads = [threads.submit(client.send, read) for _ in range(250)]
        wrongs = [threads.submit(client.send, wrong) for _ in range(250)]
    assert {tuple(one.result().statuses) for one in reads} == {(200,)}
    assert {tuple(one.result().statuses) for one in wrongs} == {(400,)}


def test_a_stop_does_not_wait_for_slow_clients(
    stack: Stack, client: RawClient, bystander: Callable[[], None]
) -> None:
    """On SIGTERM connections without a request are no reason to stay."""
    bystander()
    with client.connect() as idle, client.connect() as slow:
        slow.sendall(client.head("POST", "/v1/clusters", "Content-Length: 1000000") + b"{")
        started = time.monotonic()
        assert stack.api.stop() == 0
        assert time.monotonic() - started < REQUEST_SECONDS + 8
        assert idle.recv(1) == b""
