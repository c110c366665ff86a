"""Where the reboot or rebuild of nodes stands, as Nova and the nodes themselves tell."""

from collections.abc import Mapping, Sequence
from typing import Any

from jeroboam.drivers.base import CloudAccess, Phase, Progress, Watch
from jeroboam.drivers.heat import clients, node_notes
from jeroboam.drivers.heat.node_notes import Note, SignalNote
from jeroboam.drivers.heat.servers import Servers, fault_of
from jeroboam.drivers.heat.stacks import Stacks
from jeroboam.errors import CredentialRejectedError, NotFoundError
from jeroboam.models import Method, Node, utc_now

_FAILURE = "FAILURE"
_KINDS = {Method.REBOOT_NODES: node_notes.REBOOT, Method.REBUILD_NODES: node_notes.REBUILD}


def poll(cloud: CloudAccess, watches: Sequence[Watch]) -> Mapping[str, Progress]:
    """Return the progress of each watch by ``cluster_id``.

    There is one list of servers for each project. Of a node that Nova has finished with, its log
    is read as well.

    Raises:
        CloudUnavailableError: Nova or Heat does not answer.
    """
    found: dict[str, Progress] = {}
    for project in dict.fromkeys(watch.project_id for watch in watches):
        mine = [watch for watch in watches if watch.project_id == project]
        try:
            servers = Servers(clients.connection(cloud, mine[0].trust_id))
            listed = servers.listed()
        except CredentialRejectedError as error:
            rejected = Progress(phase=Phase.FAILED, message=error.message)
            found |= {watch.cluster_id: rejected for watch in mine}
            continue
        for watch in mine:
            found[watch.cluster_id] = _Look(cloud, servers, listed, watch).progress()
    return found


class _Look:
    """One look at the nodes of one watch."""

    def __init__(
        self, cloud: CloudAccess, servers: Servers, listed: Mapping[str, Any], watch: Watch
    ) -> None:
        self._cloud = cloud
        self._servers = servers
        self._listed = listed
        self._watch = watch
        self._kind = _KINDS[watch.method]

    def progress(self) -> Progress:
        """Return what holds for all nodes together: a failure only when nothing is at work."""
        states = {node.name: self._of(node) for node in self._watch.nodes}
        if not states:
            return Progress(phase=Phase.INTERRUPTED, message="No nodes were named.")
        for phase in (Phase.RUNNING, Phase.FAILED, Phase.INTERRUPTED):
            chosen = {name: one for name, one in states.items() if one.phase is phase}
            if chosen:
                words = "; ".join(f"{name}: {one.message}" for name, one in chosen.items())
                faults = {name: one.message for name, one in chosen.items()}
                return Progress(
                    phase=phase,
                    message=words[:500],
                    faults=faults if phase is Phase.FAILED else {},
                )
        return Progress(phase=Phase.DONE, message=f"{len(states)} nodes: {self._kind} done")

    def _of(self, node: Node) -> Progress:
        server = self._listed.get(node.id)
        if server is None:
            return _failed(f"its server {node.id} does not exist any more")
        if server.task_state or server.status in {"REBOOT", "HARD_REBOOT", "REBUILD"}:
            return _running(f"{server.status.lower()}, {server.task_state or 'no task'}")
        if server.status == "ERROR":
            return _failed(f"{self._kind} failed: {fault_of(server)}")
        actions = self._servers.actions(server, self._kind)
        note = Note.read(server.metadata or {})
        action = node_notes.arrived(note, self._watch.key, actions)
        if action is None:
            return Progress(phase=Phase.INTERRUPTED, message=f"no {self._kind} was submitted")
        return self._after(server, action)

    def _after(self, server: Any, action: Mapping[str, Any]) -> Progress:
        """Return what became of a server whose action Nova does not work at any more."""
        if node_notes.failed(action):
            return _failed(f"{self._kind} failed, says Nova's log ({action['request_id']})")
        if node_notes.broken_off(action, server, utc_now()):
            return _failed(
                f"Nova was restarted in the middle of its {self._kind} and does not go on "
                f"({action['request_id']}); whether it was done is not known"
            )
        if not node_notes.ended(action):
            return _running(f"{self._kind} is being finished")
        if server.status != "ACTIVE":
            return _failed(f"{self._kind} ended, and the server is {server.status}")
        if self._watch.method is Method.REBUILD_NODES:
            return self._report(server)
        return Progress(phase=Phase.DONE, message="done")

    def _report(self, server: Any) -> Progress:
        """Return whether the node has reported to Heat since it was set up anew."""
        note = SignalNote.read(server.metadata or {})
        if note is None:
            return _failed("the note of where it reports to is gone from its metadata")
        stacks = Stacks(self._cloud, self._watch.trust_id)
        try:
            signals = stacks.signals(note.stack, note.resource)
        except NotFoundError:
            return _failed("Heat does not know it any more")
        if node_notes.seen(signals) == note.seen:
            return _running("Nova is done; the node has not reported yet")
        for signal in signals.values():
            if signal.get("status") == _FAILURE:
                return _failed(f"it reported that it could not be set up: {signal.get('reason')}")
        return Progress(phase=Phase.DONE, message="done")


def _running(message: str) -> Progress:
    return Progress(phase=Phase.RUNNING, message=message)


def _failed(message: str) -> Progress:
    return Progress(phase=Phase.FAILED, message=message)
