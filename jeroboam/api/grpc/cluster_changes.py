"""What has changed between two looks at a cluster."""

from collections.abc import AsyncIterator, Awaitable, Callable

from grpc import StatusCode

from jeroboam.api.grpc import messages
from jeroboam.api.grpc.changes import ENDED, OperationChanges
from jeroboam.api.grpc.door import Answer, Request
from jeroboam.api.grpc.refusals import Refused
from jeroboam.api.grpc.v1.clusters_pb2 import Cluster, ClusterEvent, WatchClusterRequest
from jeroboam.api.grpc.v1.operations_pb2 import Operation

Ask = Callable[[Request], Awaitable[Answer]]

AT_A_TIME = "10"
"""How many of the newest operations are looked at; more never have a cluster at one time."""


class ClusterChanges:
    """Turns looks at a cluster and its operations into events.

    Args:
        uuid: The cluster.
        request: Where to begin and when to end.
    """

    def __init__(self, uuid: str, request: WatchClusterRequest) -> None:
        self.ended = False
        self._path = f"/v1/clusters/{uuid}"
        self._until_idle = request.until_idle
        self._cluster: Cluster | None = None
        self._followed: dict[str, OperationChanges] = {}
        self._is_first = True
        if request.operation_id:
            self._followed[request.operation_id] = OperationChanges(request.after_seq)

    async def look(self, ask: Ask) -> AsyncIterator[ClusterEvent]:
        """Yield what has changed since the last look.

        Args:
            ask: Asks the application.

        Raises:
            Refused: It refuses.
        """
        listed = Request("GET", f"{self._path}/operations", {"limit": AT_A_TIME}, quiet=True)
        found = (await ask(listed)).body["operations"]
        now = await self._now(ask)
        if now is not None and now != self._cluster:
            self._cluster = now
            yield ClusterEvent(cluster=now)
        for one in reversed(found):
            async for event in self._of_operation(ask, one["uuid"], one["state"]):
                yield event
        self._is_first = False
        if now is None:
            self.ended = True
            yield ClusterEvent(gone=True)
        elif self._until_idle:
            self.ended = all(one["state"] in ENDED for one in found)

    async def _of_operation(self, ask: Ask, uuid: str, state: str) -> AsyncIterator[ClusterEvent]:
        changes = self._followed.get(uuid)
        if changes is None:
            changes = self._followed[uuid] = OperationChanges()
            # What had ended before is nobody's news.
            changes.ended = self._is_first and state in ENDED
        if changes.ended:
            return
        answer = await ask(Request("GET", f"/v1/operations/{uuid}", quiet=True))
        for event in changes.events(messages.fill(Operation(), answer.body)):
            yield ClusterEvent(operation=event)

    async def _now(self, ask: Ask) -> Cluster | None:
        """Return the cluster; nothing if it is gone."""
        try:
            answer = await ask(Request("GET", self._path, quiet=True))
        except Refused as refused:
            if refused.code is StatusCode.NOT_FOUND:
                return None
            raise
        return messages.fill(Cluster(), answer.body)
