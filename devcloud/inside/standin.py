"""A Heat resource whose service is not part of the cloud."""

import uuid
from typing import Any

from heat.engine import attributes, resource

from devcloud.inside import home

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
