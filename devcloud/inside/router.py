"""Neutron's router plug-in, with what an L3 agent would report."""

from typing import Any

from neutron.services.l3_router.l3_router_plugin import L3RouterPlugin
from neutron_lib import constants, context
from neutron_lib.api.definitions import portbindings
from neutron_lib.plugins import directory
from oslo_config import cfg


class InstantRouter(L3RouterPlugin):
    """Makes router ports and associated floating IPs ACTIVE at once."""

    def create_router(self, ctx: Any, router: dict[str, Any]) -> Any:
        """Create a router and bind its gateway port."""
        return self._with_bound_gateway(super().create_router(ctx, router))

    def update_router(self, ctx: Any, router_id: str, router: dict[str, Any]) -> Any:
        """Update a router and bind the gateway port it may have got."""
        return self._with_bound_gateway(super().update_router(ctx, router_id, router))

    def add_router_interface(self, ctx: Any, router_id: str, interface_info: Any = None) -> Any:
        """Attach a subnet and bind the port on it."""
        attached = super().add_router_interface(ctx, router_id, interface_info)
        _bind(attached["port_id"])
        return attached

    def create_floatingip(self, ctx: Any, floatingip: dict[str, Any]) -> Any:
        """Create a floating IP with the status that an agent would report."""
        return self._with_status(super().create_floatingip(ctx, floatingip))

    def update_floatingip(self, ctx: Any, fip_id: str, floatingip: dict[str, Any]) -> Any:
        """Associate or release a floating IP, status included."""
        return self._with_status(super().update_floatingip(ctx, fip_id, floatingip))

    def _with_bound_gateway(self, router: dict[str, Any]) -> dict[str, Any]:
        if router.get("gw_port_id"):
            _bind(router["gw_port_id"])
        return router

    def _with_status(self, floatingip: dict[str, Any]) -> dict[str, Any]:
        status = (
            constants.FLOATINGIP_STATUS_ACTIVE
            if floatingip.get("port_id")
            else constants.FLOATINGIP_STATUS_DOWN
        )
        self.update_floatingip_status(context.get_admin_context(), floatingip["id"], status)
        return floatingip | {"status": status}


def _bind(port_id: str) -> None:
    body = {"port": {portbindings.HOST_ID: cfg.CONF.host}}
    directory.get_plugin().update_port(context.get_admin_context(), port_id, body)
