"""Heat resource types for services that are not part of the cloud.

A stand-in has the properties and attributes of the real type and completes at once. Heat
loads this module as a plug-in (``plugin_dirs``), so that it concerns every stack, and
templates need no change. Only types of absent services are replaced.
"""

import importlib
import importlib.metadata
import pkgutil
from typing import Any

from heat.engine import constraints, resources

from devcloud.inside.standin import StandIn, absent
from devcloud.inside.standin_types import LoadBalancer, Server

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
