"""Stand-ins that do more than exist: a load balancer with a port, a server that boots."""

import time
from typing import Any

from heat.common import exception
from oslo_utils import uuidutils

from devcloud.faults import FaultFile
from devcloud.inside import home
from devcloud.inside.node import Node
from devcloud.inside.standin import StandIn, absent

_booting: dict[str, Node] = {}


class LoadBalancer(StandIn):
    """Has a virtual IP on a real port, if Neutron is real, for floating IPs to attach to."""

    def handle_create(self) -> Any:
        """Create the port of the virtual IP."""
        super().handle_create()
        if "neutron" in absent():
            return
        plugin = self.client_plugin("neutron")
        wanted = self.properties["vip_subnet"]
        subnet = self.client("neutron").show_subnet(
            plugin.find_resourceid_by_name_or_id("subnet", wanted)
        )["subnet"]
        fixed = {"subnet_id": subnet["id"]}
        if self.properties["vip_address"]:
            fixed["ip_address"] = self.properties["vip_address"]
        port = self.client("neutron").create_port(
            {
                "port": {
                    "name": f"octavia-lb-{self.resource_id}",
                    "network_id": subnet["network_id"],
                    "fixed_ips": [fixed],
                    "device_owner": "Octavia",
                    "device_id": f"lb-{self.resource_id}",
                }
            }
        )["port"]
        self.data_set("vip_port_id", port["id"])
        self.data_set("vip_address", port["fixed_ips"][0]["ip_address"])
        self.data_set("vip_subnet_id", subnet["id"])

    def handle_delete(self) -> None:
        """Delete the port of the virtual IP."""
        port = self.data().get("vip_port_id")
        if port and "neutron" not in absent():
            with self.client_plugin("neutron").ignore_not_found:
                self.client("neutron").delete_port(port)


class Server(StandIn):
    """A server without Nova; ``SimulatedDriver`` does the same for real ones."""

    def handle_create(self) -> float:
        """Look at the faults; return when the server will be there."""
        super().handle_create()
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
            node = Node(
                uuid=self.resource_id,
                name=self._server_name(),
                user_data=user_data,
                faults=FaultFile(layout.faults),
                boot_seconds=layout.settings.boot_seconds,
            )
            _booting[self.resource_id] = node
            node.start()
        return True

    def handle_delete(self) -> None:
        """Forget what the node was about to do."""
        node = _booting.pop(self.resource_id, None)
        if node:
            node.cancel()

    def _server_name(self) -> str:
        return str(self.properties["name"] or self.physical_resource_name())

    def _user_data(self) -> str:
        content = self.properties["user_data"]
        if uuidutils.is_uuid_like(content):
            stored = self.rpc_client().show_software_config(self.context, content)
            content = stored["config"]
        return str(content or "")
