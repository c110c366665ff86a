"""What a stand-in server does beyond existing: faults, and a node that calls back."""

import time
from typing import Any

from heat.common import exception
from oslo_utils import uuidutils

from devcloud.faults import FaultFile
from devcloud.inside import home
from devcloud.inside.node import Node

_booting: dict[str, Node] = {}


class ServerMixin:
    """For the set without Nova; with Nova, ``SimulatedDriver`` does the same."""

    def handle_create(self) -> float:
        """Look at the faults; return when the server will be there."""
        super().handle_create()  # type: ignore[misc]
        ready = time.monotonic()
        for fault in FaultFile(home.current().faults).fire("server", name=self._server_name()):
            if fault.action == "fail":
                raise exception.ResourceInError(
                    resource_status="ERROR",
                    status_reason=f"Message: {fault.message}, Code: 500",
                )
            ready += fault.seconds
        return ready

    def check_create_complete(self, ready: float) -> bool:
        """Boot the node once the server is there."""
        if time.monotonic() < ready:
            return False
        user_data = self._user_data()
        if user_data:
            layout = home.current()
            uuid: str = self.resource_id  # type: ignore[attr-defined]
            node = Node(
                uuid=uuid,
                name=self._server_name(),
                user_data=user_data,
                faults=FaultFile(layout.faults),
                boot_seconds=layout.settings.boot_seconds,
                booted=lambda: _booting.pop(uuid, None) and None,
            )
            _booting[uuid] = node
            node.start()
        return True

    def handle_delete(self) -> None:
        """Forget what the node was about to do."""
        node = _booting.pop(self.resource_id, None)  # type: ignore[attr-defined]
        if node:
            node.cancel()

    def _server_name(self) -> str:
        named = self.properties["name"]  # type: ignore[attr-defined]
        return str(named or self.physical_resource_name())  # type: ignore[attr-defined]

    def _user_data(self) -> str:
        content = self.properties["user_data"]  # type: ignore[attr-defined]
        if uuidutils.is_uuid_like(content):
            stored: Any = self.rpc_client().show_software_config(  # type: ignore[attr-defined]
                self.context,
                content,  # type: ignore[attr-defined]
            )
            content = stored["config"]
        return str(content or "")
