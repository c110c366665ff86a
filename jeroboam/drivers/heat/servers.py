"""The servers of one owner in Nova."""

from collections.abc import Mapping, Sequence
from typing import Any

from openstack.connection import Connection

from jeroboam.drivers.heat import node_notes
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import ConflictError

SERVICE = "Nova"


class Servers:
    """Asks and changes servers, with Nova's errors translated.

    Args:
        connection: With the rights of the owner.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection: Any = connection
        self._compute: Any = connection.compute

    def listed(self, name: str | None = None) -> Mapping[str, Any]:
        """Return servers by their ids.

        Args:
            name: A part of the names.
        """
        query = {"name": name} if name else {}
        with translate_cloud_errors(SERVICE):
            return {server.id: server for server in self._compute.servers(**query)}

    def get(self, ident: str) -> Any:
        """Return a server.

        Raises:
            NotFoundError: It is not there.
        """
        with translate_cloud_errors(SERVICE):
            return self._compute.get_server(ident)

    def actions(self, server: Any, kind: str) -> Sequence[Mapping[str, Any]]:
        """Return what Nova's log holds of one kind of action, the last with its events."""
        with translate_cloud_errors(SERVICE):
            listed = [one.to_dict() for one in self._compute.server_actions(server)]
            found = node_notes.of_kind(listed, kind)
            if not found:
                return ()
            request = found[-1]["request_id"]
            shown = self._compute.get_server_action(request, server).to_dict()
        return (*found[:-1], _plain(shown))

    def note(self, server: Any, note: Mapping[str, str]) -> None:
        """Write metadata; of a server in ERROR Nova takes none."""
        try:
            with translate_cloud_errors(SERVICE):
                self._compute.set_server_metadata(server, **note)
        except ConflictError:
            if server.status != "ERROR":
                raise

    def reboot(self, server: Any, *, hard: bool) -> None:
        """Submit a reboot."""
        with translate_cloud_errors(SERVICE):
            self._compute.reboot_server(server, "HARD" if hard else "SOFT")

    def rebuild(self, server: Any, image: str, metadata: Mapping[str, str]) -> None:
        """Submit a rebuild; address, ports and user data stay, the metadata are replaced.

        Args:
            image: Name or id, for a server that boots from a volume: Nova does not know of which.
        """
        with translate_cloud_errors(SERVICE):
            ident = (server.image or {}).get("id")
            if not ident:
                ident = self._connection.image.find_image(image, ignore_missing=False).id
            self._compute.rebuild_server(server, image=ident, metadata=dict(metadata))


def fault_of(server: Any) -> str:
    """Return why a server is in ERROR, in Nova's words."""
    fault = server.fault or {}
    return str(fault.get("message") or "Nova gives no reason")


def _plain(action: Mapping[str, Any]) -> dict[str, Any]:
    events = action.get("events")
    listed = None if events is None else [dict(event) for event in events]
    return {**action, "events": listed}
