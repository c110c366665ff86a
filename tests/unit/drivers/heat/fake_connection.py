"""The part of a connection that looks for leftovers, over objects in memory."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

from openstack.connection import Connection
from openstack.exceptions import ConflictException, HttpException
from requests import Response

SLOW = ("server", "load balancer")
"""Kinds that are still there for a while when their removal was asked for."""


@dataclass(frozen=True, eq=False)
class Thing:
    """Any object of the cloud."""

    id: str
    kind: str
    name: str = ""
    description: str = ""
    device_owner: str = ""
    device_id: str = ""
    fixed_ips: tuple[dict[str, str], ...] = ()
    vip_network_id: str = ""
    vip_port_id: str = ""
    port_id: str = ""
    provisioning_status: str = "ACTIVE"
    metadata: dict[str, str] = field(default_factory=dict)


@dataclass
class FakeConnection:
    """Objects by id.

    Args:
        stubborn: Ids of what refuses to go because something uses it.
        failing: Ids of what a service fails to remove, and kinds that it fails to list.
        lingering: How many more lists still show a deleted server or load balancer.
        services: Types of the optional services that the cloud has.
    """

    things: dict[str, Thing] = field(default_factory=dict)
    stubborn: set[str] = field(default_factory=set)
    failing: set[str] = field(default_factory=set)
    lingering: int = 0
    services: frozenset[str] = frozenset()
    detached: list[tuple[str, str]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    current_project_id: str = "p1"

    @property
    def connection(self) -> Connection:
        """The object, for code that takes a whole connection and uses this part of it."""
        return cast("Connection", self)

    def add(self, *things: Thing) -> None:
        self.things |= {thing.id: thing for thing in things}

    def has_service(self, name: str) -> bool:
        return name in self.services

    def _list(self, kind: str, **query: Any) -> Iterable[Thing]:
        self._fail(kind)
        if kind in SLOW and self.lingering:
            self.lingering -= 1
        elif kind in SLOW:
            for one in [i for i in self.removed if i in self.things]:
                del self.things[one]
        device = query.get("device_id")
        return [
            thing
            for thing in self.things.values()
            if thing.kind == kind and (device is None or thing.device_id == device)
        ]

    def _fail(self, what: str) -> None:
        if what in self.failing:
            answer = Response()
            answer.status_code = 500
            raise HttpException(f"no {what} now", response=answer)

    def _remove(self, thing: Thing) -> None:
        self._fail(thing.id)
        if thing.id in self.stubborn:
            answer = Response()
            answer.status_code = 409
            raise ConflictException(f"{thing.id} is in use", response=answer)
        self.removed.append(thing.id)
        if thing.kind not in SLOW:
            del self.things[thing.id]

    def remove_interface_from_router(self, router: Thing, subnet_id: str) -> None:
        self.detached.append((router.id, subnet_id))

    def delete_load_balancer(self, thing: Thing, *, cascade: bool) -> None:
        assert cascade
        self._remove(thing)

    def __getattr__(self, name: str) -> Any:
        if name in {"compute", "network", "load_balancer", "block_storage"}:
            return self
        if name.startswith("delete_"):
            return self._remove
        kinds = {
            "servers": "server",
            "ips": "floating IP",
            "ports": "port",
            "routers": "router",
            "subnets": "subnet",
            "networks": "network",
            "security_groups": "security group",
            "server_groups": "server group",
            "load_balancers": "load balancer",
            "volumes": "volume",
        }
        if name not in kinds:
            raise AttributeError(name)
        return lambda **query: self._list(kinds[name], **query)
