"""Heat resource types for services that are not part of the cloud.

A stand-in has the properties and attributes of the real type and completes at once. Heat
loads this module as a plug-in (``plugin_dirs``), so that it concerns every stack, and
templates need no change. Only types of absent services are replaced.
"""

import importlib
import importlib.metadata
import pkgutil
import uuid
from typing import Any

from heat.engine import attributes, constraints, resource, resources

from devcloud.inside import home, standin_server

FAMILIES = {"octavia": None, "cinder": None, "nova": "nova", "neutron": "neutron"}
"""Heat's name of a family of types, and the service whose presence makes it real."""

EMPTY: dict[str, Any] = {
    attributes.Schema.STRING: "",
    attributes.Schema.LIST: [],
    attributes.Schema.MAP: {},
    attributes.Schema.INTEGER: 0,
    attributes.Schema.BOOLEAN: True,
}


def absent() -> tuple[str, ...]:
    """Return the families that have no service in this cloud."""
    present = home.current().services
    return tuple(family for family, service in FAMILIES.items() if service not in present)


class StandIn(resource.Resource):
    """Exists in Heat's database only."""

    def handle_create(self) -> Any:
        """Take an id, as if a service had given it."""
        self.resource_id_set(str(uuid.uuid4()))

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> None:
        """Accept the change; Heat keeps the new properties."""

    def handle_delete(self) -> None:
        """Nothing to remove."""

    def needs_replace_failed(self) -> bool:
        """A stand-in that has an id is as good as any other."""
        return not self.resource_id

    def get_live_state(self, resource_properties: Any) -> dict[str, Any]:
        """There is no other state than what Heat remembers."""
        return {}

    def _show_resource(self) -> dict[str, Any]:
        properties = {key: self.properties[key] for key in self.properties_schema}
        return properties | {"id": self.resource_id, "name": self.physical_resource_name()}

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        known = self.data().get(name)
        if known is None and name in self.properties:
            known = self.properties[name]
        return known if known is not None else self._invented(name)

    def _invented(self, name: str) -> Any:
        if "status" in name:
            return "ACTIVE"
        if name in ("addresses", "networks", "fixed_ips"):
            return self._addresses()[name]
        if name.endswith("address"):
            return self._address()
        if name.endswith("_id"):
            return str(uuid.uuid5(uuid.UUID(self.resource_id), name))
        return EMPTY.get(self.attributes_schema[name].type, "")

    def _address(self) -> str:
        """Derive an address from the id, so that it stays the same."""
        number = uuid.UUID(self.resource_id).int
        return f"10.0.{number % 256}.{number // 256 % 254 + 1}"

    def _addresses(self) -> dict[str, Any]:
        address = self._address()
        return {
            "addresses": {"private": [{"addr": address, "version": 4}]},
            "networks": {"private": [address]},
            "fixed_ips": [{"ip_address": address}],
        }


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


class Server(standin_server.ServerMixin, StandIn):
    """A server without Nova; its simulated node calls back all the same."""


SPECIAL = {"OS::Octavia::LoadBalancer": LoadBalancer, "OS::Nova::Server": Server}


class AnyName(constraints.BaseCustomConstraint):
    """Finds whatever is asked for, since nobody is there to ask."""

    def validate(self, value: Any, context: Any, template: Any = None) -> bool:
        """Accept any value."""
        return True


def resource_mapping() -> dict[str, type]:
    """Return the stand-ins, by type, for Heat's plug-in loader."""
    found: dict[str, type] = {}
    for family in absent():
        package = importlib.import_module(f"{resources.__name__}.openstack.{family}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            loaded = importlib.import_module(module.name)
            mapping = getattr(loaded, "resource_mapping", dict)
            found |= {name: _stand_in(name, real) for name, real in mapping().items()}
    return found


def constraint_mapping() -> dict[str, type]:
    """Return the constraints that would ask an absent service, for the plug-in loader."""
    names = [entry.name for entry in importlib.metadata.entry_points(group="heat.constraints")]
    return {name: AnyName for name in names if name.partition(".")[0] in absent()}


def _stand_in(name: str, real: Any) -> type:
    base = SPECIAL.get(name, StandIn)
    schemata = {
        "properties_schema": real.properties_schema,
        "attributes_schema": real.attributes_schema,
        "support_status": real.support_status,
        "entity": None,
    }
    return type(real.__name__, (base,), schemata | {"__module__": __name__})
