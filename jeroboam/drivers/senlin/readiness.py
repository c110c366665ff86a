"""Whether nodes are set up, as their consoles tell: Senlin waits for servers, not for nodes."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from openstack.connection import Connection

from jeroboam.drivers.base import Phase, Progress
from jeroboam.drivers.heat.servers import Servers, fault_of
from jeroboam.drivers.nodes import names
from jeroboam.drivers.openstack import redact, translate_cloud_errors
from jeroboam.drivers.servers.failures import LINES, report_of
from jeroboam.drivers.servers.inventory import CALL, READY
from jeroboam.errors import ConflictError, NotFoundError
from jeroboam.models import Node

SEEN = "jeroboam_report"
"""Metadata of servers: digest of the report after which the node was last taken for ready."""

_DIGEST = 16
_LONGEST = 500
_SUCCESS, _FAILURE = "SUCCESS", "FAILURE"


class Readiness:
    """The nodes of one cluster in Nova.

    Args:
        connection: With the rights of the cluster's owner.
        cluster: Its uuid.
    """

    def __init__(self, connection: Connection, cluster: str) -> None:
        self._compute: Any = connection.compute
        self._servers = Servers(connection)
        self._mark = names.short_of(cluster)

    def of(self, wanted: Sequence[str]) -> Progress:
        """Return how many of some nodes are set up.

        Args:
            wanted: Their names.
        """
        listed = {one.name: one for one in self._servers.listed(self._mark).values()}
        return self._together({name: self._state(listed.get(name)) for name in wanted})

    def after_rebuild(self, nodes: Sequence[Node], call: str) -> Progress:
        """Return how many nodes have been set up anew.

        Args:
            call: Digest of the call that rebuilds them.
        """
        listed = self._servers.listed(self._mark)
        found = {node.name: listed.get(node.id) for node in nodes}
        for name, server in found.items():
            if server is not None and (server.metadata or {}).get(CALL) != call:
                return Progress(phase=Phase.INTERRUPTED, message=f"{name} was not rebuilt")
        return self._together({name: self._state(server) for name, server in found.items()})

    def rebuild(self, nodes: Sequence[Mapping[str, Any]]) -> bool:
        """Have Nova set up nodes anew; return whether there were any.

        Raises:
            ConflictError: Nova cannot rebuild one as it is.
        """
        for node in nodes:
            try:
                with translate_cloud_errors("Nova"):
                    self._compute.rebuild_server(
                        node["server"], image=node["image"], metadata=node["metadata"]
                    )
            except ConflictError as error:
                raise ConflictError(f"Node {node['name']}: {error.message}") from None
        return bool(nodes)

    def _state(self, server: Any) -> Progress:
        if server is None:
            return _failed("its server does not exist any more")
        if server.status == "ERROR":
            return _failed(redact(fault_of(server)))
        if server.status != "ACTIVE" or server.task_state:
            return Progress(phase=Phase.RUNNING, message=f"its server is {server.status}")
        if READY in (server.metadata or {}):
            return Progress(phase=Phase.DONE, message="set up")
        return self._after_boot(server)

    def _after_boot(self, server: Any) -> Progress:
        """Return what a node says of itself; one that is set up is not asked again."""
        report = self._report(server)
        digest = sha256(json.dumps(report, sort_keys=True).encode()).hexdigest()[:_DIGEST]
        if digest == (server.metadata or {}).get(SEEN) or report.get("status") not in {
            _SUCCESS,
            _FAILURE,
        }:
            return Progress(phase=Phase.RUNNING, message="it has not reported yet")
        if report["status"] == _FAILURE:
            reason = redact(str(report.get("reason")))
            return _failed(f"A node reported that it could not be set up: {reason}"[:_LONGEST])
        self._servers.note(server, {READY: "yes", SEEN: digest})
        return Progress(phase=Phase.DONE, message="set up")

    def _report(self, server: Any) -> Mapping[str, Any]:
        try:
            with translate_cloud_errors("Nova"):
                console = self._compute.get_server_console_output(server.id, length=LINES)
        except (ConflictError, NotFoundError):
            # Its console is not there yet.
            return {}
        return report_of(str(console.get("output") or ""))

    @staticmethod
    def _together(states: Mapping[str, Progress]) -> Progress:
        """Return what holds for all: a failure only when no other node is being set up."""
        running = [one for one in states.values() if one.phase is Phase.RUNNING]
        if running:
            words = f"{len(states) - len(running)} of {len(states)} nodes are set up"
            return Progress(phase=Phase.RUNNING, message=words)
        faults = {name: one.message for name, one in states.items() if one.phase is Phase.FAILED}
        if faults:
            words = "; ".join(f"{name}: {reason}" for name, reason in faults.items())
            return Progress(phase=Phase.FAILED, message=words[:_LONGEST], faults=faults)
        return Progress(phase=Phase.DONE, message=f"{len(states)} nodes are set up")


def _failed(message: str) -> Progress:
    return Progress(phase=Phase.FAILED, message=message)
