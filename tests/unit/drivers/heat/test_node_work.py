"""Work on nodes, call by call, with a Nova whose state the test sets."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from openstack.exceptions import ConflictException, NotFoundException
from requests import Response

from jeroboam.drivers.base import DriverContext, Phase, Progress, Watch
from jeroboam.drivers.heat import clients, node_actions
from jeroboam.drivers.heat.poller import HeatPoller
from jeroboam.errors import ConflictError, NotFoundError
from jeroboam.models import Method, Node, utc_now
from tests.unit.drivers.heat.clusters import make_spec, secrets
from tests.unit.drivers.heat.fake_heat import FakeHeat, serving

SPEC = make_spec(trust_id="p1")
KEY = "cluster:operation:step"
NODE = Node(name="demo-worker-0", id="s0")


def answer(status: int) -> Response:
    response = Response()
    response.status_code = status
    return response


@dataclass
class Action:
    """An entry of Nova's log."""

    action: str
    request_id: str
    message: str | None = None
    finish_time: str | None = "2026-01-02T12:01:00"

    def to_dict(self) -> dict[str, Any]:
        result = "Error" if self.message else "Success"
        events = [{"result": result, "finish_time": self.finish_time}]
        start = f"2026-01-02T12:00:{int(self.request_id):02}"
        return {**vars(self), "start_time": start, "events": events}


@dataclass
class Server:
    id: str = "s0"
    name: str = NODE.name
    status: str = "ACTIVE"
    task_state: str | None = None
    updated_at: str | None = None
    fault: dict[str, str] | None = None
    image: dict[str, str] | None = field(default_factory=lambda: {"id": "image-1"})
    metadata: dict[str, str] = field(default_factory=dict)


@dataclass
class FakeNova:
    """One server and its log."""

    server: Server | None = field(default_factory=Server)
    log: list[Action] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)

    @property
    def compute(self) -> "FakeNova":
        return self

    @property
    def image(self) -> "FakeNova":
        return self

    def find_image(self, name: str, *, ignore_missing: bool) -> Server:
        assert not ignore_missing
        return Server(id=f"id of {name}")

    def servers(self, **_: Any) -> Iterator[Server]:
        yield from filter(None, [self.server])

    def get_server(self, ident: str) -> Server:
        if self.server is None:
            raise NotFoundException(ident, response=answer(404))
        return self.server

    def server_actions(self, _: Server) -> Iterator[Action]:
        yield from reversed(self.log)

    def get_server_action(self, request: str, _: Server) -> Action:
        return next(one for one in self.log if one.request_id == request)

    def set_server_metadata(self, server: Server, **metadata: str) -> None:
        if server.status == "ERROR":
            raise ConflictException("vm_state error", response=answer(409))
        server.metadata |= metadata

    def reboot_server(self, server: Server, kind: str) -> None:
        if server.task_state:
            raise ConflictException(
                f"while it is in task_state {server.task_state}", response=answer(409)
            )
        self.kinds.append(kind)
        self.begin("reboot")

    def rebuild_server(self, server: Server, *, image: str, metadata: dict[str, str]) -> None:
        self.images.append(image)
        server.metadata = metadata
        self.begin("rebuild")

    def begin(self, kind: str) -> None:
        self.log.append(Action(kind, str(len(self.log))))

    def count(self, kind: str) -> int:
        return sum(one.action == kind for one in self.log)


@dataclass
class HeatOfNodes(FakeHeat):
    """A Heat in which the node's handle was told something."""

    told: dict[str, Any] | None = None

    def answer(self, project: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if path.endswith("/metadata"):
            return (404, {}) if self.told is None else (200, {"metadata": self.told})
        return super().answer(project, path, query)


@pytest.fixture
def nova(monkeypatch: pytest.MonkeyPatch) -> FakeNova:
    fake = FakeNova()
    monkeypatch.setattr(clients, "connection", lambda *_: fake)
    return fake


@pytest.fixture
def heat() -> HeatOfNodes:
    return HeatOfNodes(told={"node": report("first boot")})


@pytest.fixture
def context(heat: HeatOfNodes) -> Iterator[DriverContext]:
    with serving(heat) as cloud:
        yield DriverContext(KEY, cloud, secrets)


def report(boot: str, status: str = "SUCCESS") -> dict[str, str]:
    return {"status": status, "reason": "no disk", "data": boot}


def look(context: DriverContext, method: Method, *nodes: Node) -> Progress:
    watch = Watch(
        cluster_id=SPEC.cluster.uuid,
        project_id="p1",
        trust_id="p1",
        backend_id=None,
        method=method,
        key=context.idempotency_key,
        nodes=nodes,
    )
    return HeatPoller().poll(context.cloud, [watch])[SPEC.cluster.uuid]


def reboot(context: DriverContext, *, hard: bool = False) -> None:
    node_actions.reboot(context, SPEC, [NODE], hard=hard)


def rebuild(context: DriverContext, heat: HeatOfNodes) -> None:
    links = [{"rel": "stack", "href": "http://heat/v1/p/stacks/n/stack-nested"}]
    heat.resources = [
        {"resource_name": name, "resource_type": kind, "physical_resource_id": ident}
        | {"links": links}
        for name, kind, ident in (
            ("server", "OS::Nova::Server", "s0"),
            ("ready_handle_b", "OS::Heat::WaitConditionHandle", "h"),
        )
    ]
    if not heat.stacks:
        heat.add("p1", SPEC.cluster.uuid, "CREATE_COMPLETE")
        heat.add("p1", "nested", "CREATE_COMPLETE")
    node_actions.rebuild(context, SPEC, [(NODE, "coreos")])


class TestReboot:
    def test_once(self, nova: FakeNova, context: DriverContext) -> None:
        """A call that comes again, even when all is over, reboots nothing again."""
        for _ in range(3):
            reboot(context)
        assert nova.kinds == ["SOFT"]
        assert look(context, Method.REBOOT_NODES, NODE).phase is Phase.DONE

    def test_reboots_of_others_do_not_count(self, nova: FakeNova, context: DriverContext) -> None:
        """What the log held before the call says nothing about the call."""
        nova.begin("reboot")
        assert look(context, Method.REBOOT_NODES, NODE).phase is Phase.INTERRUPTED
        reboot(context, hard=True)
        assert nova.kinds == ["HARD"]

    def test_next_call(self, nova: FakeNova, context: DriverContext) -> None:
        """Another call reboots again."""
        reboot(context)
        reboot(DriverContext("another", context.cloud, secrets))
        assert nova.count("reboot") == 2

    def test_note_without_reboot(self, nova: FakeNova, context: DriverContext) -> None:
        """A call that ended between note and reboot is made up for."""
        reboot(context)
        nova.log.clear()
        assert look(context, Method.REBOOT_NODES, NODE).phase is Phase.INTERRUPTED
        reboot(context)
        assert nova.count("reboot") == 1

    def test_failed_one_is_repeated(self, nova: FakeNova, context: DriverContext) -> None:
        """Whoever asks again after a failure wants another attempt."""
        reboot(context)
        nova.log[0].message = "Error"
        progress = look(context, Method.REBOOT_NODES, NODE)
        assert progress.phase is Phase.FAILED
        assert "Nova's log" in progress.faults[NODE.name]
        reboot(context)
        assert nova.count("reboot") == 2

    def test_server_in_error(self, nova: FakeNova, context: DriverContext) -> None:
        """Of a server in ERROR Nova takes no note, and it is rebooted all the same."""
        assert nova.server
        nova.server.status, nova.server.fault = "ERROR", {"message": "no power"}
        reboot(context, hard=True)
        assert nova.count("reboot") == 1
        progress = look(context, Method.REBOOT_NODES, NODE)
        assert progress.phase is Phase.FAILED
        assert progress.faults == {NODE.name: "reboot failed: no power"}

    @pytest.mark.parametrize(
        ("status", "words"), [("SHUTOFF", "is switched off"), ("ERROR", "is in the state ERROR")]
    )
    def test_not_running(
        self, nova: FakeNova, context: DriverContext, status: str, words: str
    ) -> None:
        """A server that does not run is not asked, and the message says what works."""
        assert nova.server
        nova.server.status = status
        with pytest.raises(ConflictError, match=rf"demo-worker-0 {words}.*hard reboot"):
            reboot(context)
        reboot(context, hard=True)
        assert nova.kinds == ["HARD"]

    def test_busy_server(self, nova: FakeNova, context: DriverContext) -> None:
        """Nova's refusal is passed on with the node's name."""
        assert nova.server
        nova.server.task_state = "image_uploading"
        with pytest.raises(ConflictError, match=r"Node demo-worker-0: .*image_uploading"):
            reboot(context)

    def test_lost_server(self, nova: FakeNova, context: DriverContext) -> None:
        """A node without a server cannot be rebooted; the message says how to replace it."""
        nova.server = None
        with pytest.raises(NotFoundError, match="Resize its group"):
            reboot(context)
        assert look(context, Method.REBOOT_NODES, NODE).phase is Phase.FAILED

    @pytest.mark.parametrize(
        ("server", "finished", "phase"),
        [
            ({"status": "REBOOT", "task_state": "rebooting"}, True, Phase.RUNNING),
            ({"task_state": "rebooting"}, True, Phase.RUNNING),
            ({}, False, Phase.RUNNING),
            ({}, True, Phase.DONE),
            ({"status": "SHUTOFF"}, True, Phase.FAILED),
        ],
    )
    def test_states(
        self,
        nova: FakeNova,
        context: DriverContext,
        server: dict[str, str],
        phase: Phase,
        *,
        finished: bool,
    ) -> None:
        """A node is done when it is ACTIVE, without a task, and Nova's log has the end."""
        reboot(context)
        assert nova.server
        for name, value in server.items():
            setattr(nova.server, name, value)
        nova.log[0].finish_time = "2026-01-02T12:02:00" if finished else None
        assert look(context, Method.REBOOT_NODES, NODE).phase is phase

    def test_nova_forgets_it(self, nova: FakeNova, context: DriverContext) -> None:
        """What a restarted Nova will never end is a failure, and a new call reboots once more."""
        reboot(context)
        assert nova.server
        nova.log[0].finish_time = None
        nova.server.updated_at = f"{utc_now():%Y-%m-%dT%H:%M:%SZ}"
        assert look(context, Method.REBOOT_NODES, NODE).phase is Phase.RUNNING
        nova.server.updated_at = "2026-01-02T12:00:30Z"
        progress = look(context, Method.REBOOT_NODES, NODE)
        assert progress.phase is Phase.FAILED
        assert "Nova was restarted in the middle of its reboot" in progress.message
        reboot(context)
        assert len(nova.log) == 2

    def test_nobody_is_named(self, nova: FakeNova, context: DriverContext) -> None:
        """A wait for no node at all is not over."""
        _ = nova
        assert look(context, Method.REBOOT_NODES).phase is Phase.INTERRUPTED

    def test_failure_waits_for_the_others(self, nova: FakeNova, context: DriverContext) -> None:
        """A verdict comes when no node of the batch is at work any more."""
        reboot(context)
        nova.log[0].finish_time = None
        gone = Node(name="gone", id="s1")
        assert look(context, Method.REBOOT_NODES, NODE, gone).phase is Phase.RUNNING
        nova.log[0].finish_time = "2026-01-02T12:02:00"
        progress = look(context, Method.REBOOT_NODES, NODE, gone)
        assert progress.phase is Phase.FAILED
        assert set(progress.faults) == {"gone"}


class TestRebuild:
    def test_once(self, nova: FakeNova, heat: HeatOfNodes, context: DriverContext) -> None:
        """A node is rebuilt once from its own image and keeps the metadata of others."""
        assert nova.server
        nova.server.metadata = {"owner": "me"}
        for _ in range(3):
            rebuild(context, heat)
        assert nova.images == ["image-1"]
        assert nova.server.metadata["owner"] == "me"

    def test_report_is_waited_for(
        self, nova: FakeNova, heat: HeatOfNodes, context: DriverContext
    ) -> None:
        """The old report does not count; a new one ends the wait, for good or bad."""
        _ = nova
        rebuild(context, heat)
        assert look(context, Method.REBUILD_NODES, NODE).phase is Phase.RUNNING
        heat.told = {"node": report("second boot", "FAILURE")}
        progress = look(context, Method.REBUILD_NODES, NODE)
        assert progress.phase is Phase.FAILED
        assert "no disk" in progress.faults[NODE.name]
        heat.told = {"node": report("second boot")}
        assert look(context, Method.REBUILD_NODES, NODE).phase is Phase.DONE

    def test_boot_volume(self, nova: FakeNova, heat: HeatOfNodes, context: DriverContext) -> None:
        """Of a server that boots from a volume Nova does not know the image; the cluster does."""
        assert nova.server
        nova.server.image = None
        rebuild(context, heat)
        assert nova.images == ["id of coreos"]

    def test_unknown_to_heat(
        self, nova: FakeNova, heat: HeatOfNodes, context: DriverContext
    ) -> None:
        """A server that Heat does not know could never report, so it is not rebuilt."""
        heat.stacks = {}
        with pytest.raises(NotFoundError, match="Heat does not know"):
            node_actions.rebuild(context, SPEC, [(NODE, "coreos")])
        assert nova.images == []

    def test_lost_note(self, nova: FakeNova, heat: HeatOfNodes, context: DriverContext) -> None:
        """Without the note of where a node reports to, nobody can say that it is ready."""
        rebuild(context, heat)
        assert nova.server
        del nova.server.metadata["jeroboam_signal"]
        assert look(context, Method.REBUILD_NODES, NODE).phase is Phase.FAILED

    def test_handle_is_gone(
        self, nova: FakeNova, heat: HeatOfNodes, context: DriverContext
    ) -> None:
        """Nor can anybody when Heat has forgotten the node meanwhile."""
        _ = nova
        rebuild(context, heat)
        heat.told = None
        progress = look(context, Method.REBUILD_NODES, NODE)
        assert progress.phase is Phase.FAILED
        assert "does not know it any more" in progress.message


def test_revoked_trust(context: DriverContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the credentials are gone the wait is over, with that as the reason."""
    watch = Watch(
        cluster_id="c",
        project_id="p",
        trust_id=None,
        backend_id=None,
        method=Method.REBOOT_NODES,
        key="k",
        nodes=(NODE,),
    )
    monkeypatch.undo()
    found = HeatPoller().poll(context.cloud, [watch])["c"]
    assert found.phase is Phase.FAILED
    assert "revoked" in found.message
