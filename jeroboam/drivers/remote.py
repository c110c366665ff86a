"""Stands for a driver that runs in a worker of its own, where this process cannot import it.

Whatever it is asked before a request is accepted goes to that worker. Its other methods are called
there alone, by steps of operations on the worker's own queue.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from pydantic import TypeAdapter

from jeroboam.drivers import base
from jeroboam.drivers.base import ClusterDriver, Provides
from jeroboam.drivers.coe_api import CoeApi, SupportsCoeApi
from jeroboam.drivers.described_routes import restored
from jeroboam.errors import DriverContractError
from jeroboam.models import ClusterSpec, ClusterTemplate, Node, NodeGroup
from jeroboam.models.driver_wire import CoeApiDescription, DriverDescription

Ask = Callable[[str, str, bytes], None]
"""Asks a driver by name, with a method and its arguments; raises what the driver raises."""

QUESTIONS: Mapping[str, TypeAdapter[Any]] = {
    "validate": TypeAdapter(tuple[ClusterSpec]),
    "validate_template": TypeAdapter(tuple[ClusterTemplate]),
    "check_resize": TypeAdapter(tuple[ClusterSpec, NodeGroup, int]),
    "check_node_group": TypeAdapter(tuple[ClusterSpec, NodeGroup]),
    "check_upgrade": TypeAdapter(tuple[ClusterSpec, ClusterSpec]),
    "check_rebuild": TypeAdapter(tuple[ClusterSpec, tuple[Node, ...]]),
    "check_certificate_rotation": TypeAdapter(tuple[ClusterSpec]),
}
"""The methods that are asked, with the types of their arguments."""

ABILITIES: Mapping[str, type] = {
    "node_groups": base.SupportsNodeGroups,
    "upgrade": base.SupportsUpgrade,
    "reboot": base.SupportsReboot,
    "rebuild": base.SupportsRebuild,
    "certificate_rotation": base.SupportsCertificateRotation,
    "credential_rotation": base.SupportsCredentialRotation,
    "health": base.SupportsHealth,
    "monitor": base.SupportsMonitor,
    "drain": base.SupportsDrain,
    "hooks": base.SupportsHooks,
}
"""The abilities that are methods; the routes of a driver are told one by one.

No owner is prepared: that needs a token, which does not leave the API process.
"""


def stand_in(description: DriverDescription, files: Mapping[str, str], ask: Ask) -> ClusterDriver:
    """Return what stands for a driver in registries.

    Args:
        files: What its clusters are built from.
    """
    bases = tuple(ABILITIES[name] for name in description.abilities if name in ABILITIES)
    kinds = tuple(Provides(one.server_type, one.os, one.coe) for one in description.provides)
    members: dict[str, Any] = {
        "__module__": __name__,
        "name": description.name,
        "version": description.version,
        "uses_cloud": description.uses_cloud,
        "provides": kinds,
        "files": lambda _: dict(files),
        "check_installation": lambda _: None,
    }
    for kind in (ClusterDriver, *bases):
        for method in getattr(kind, "__abstractmethods__", ()):
            members.setdefault(method, _elsewhere(method))
    members |= {method: _question(method, ask) for method in QUESTIONS}
    if description.coe_api is not None:
        bases = (*bases, SupportsCoeApi)
        members["coe_api"] = _routes(description.coe_api, description.name)
    made: type[ClusterDriver] = type("RemoteDriver", (ClusterDriver, *bases), members)
    return made()


def _routes(described: CoeApiDescription, driver: str) -> "cached_property[CoeApi]":
    # Made when they are asked for: what cannot be mounted harms nothing but itself.
    return cached_property(lambda _: restored(described, driver))


def _question(method: str, ask: Ask) -> Callable[..., None]:
    def question(driver: ClusterDriver, *arguments: Any) -> None:
        wanted = tuple(tuple(one) if isinstance(one, list) else one for one in arguments)
        ask(driver.name, method, QUESTIONS[method].dump_json(wanted))

    return question


def _elsewhere(method: str) -> Callable[..., Any]:
    def elsewhere(driver: ClusterDriver, *_: Any, **__: Any) -> Any:
        raise DriverContractError(
            f"Driver '{driver.name}' runs in a worker of its own, and '{method}' was called here."
        )

    return elsewhere
