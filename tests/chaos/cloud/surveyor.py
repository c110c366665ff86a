"""Asks the cloud, as its administrator and past the network that the product uses."""

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from keystoneauth1.exceptions import ClientException, NotFound
from keystoneauth1.session import Session

from devcloud import Devcloud
from jeroboam.drivers.nodes.names import short_id
from jeroboam.models import Cluster
from tests import logins
from tests.chaos.cloud.survey import Act, Server, Stack, Survey, Thing, version_in

T = TypeVar("T")

PATIENCE_SECONDS = 180.0
REQUEST_SECONDS = 30.0
DEEPEST = 5
COMPUTE_API = {"OpenStack-API-Version": "compute 2.79"}
PORTS_OF_NETWORKS = "network:"

NETWORK_KINDS = {
    "network": "networks",
    "subnet": "subnets",
    "port": "ports",
    "router": "routers",
    "security group": "security-groups",
    "floating IP": "floatingips",
}


class Surveyor:
    """Looks at a cloud that may be restarting.

    Args:
        user: The entry of ``clouds.yaml`` who owns the clusters.
    """

    def __init__(self, cloud: Devcloud, user: str) -> None:
        self._admin = _session(cloud, "admin")
        self._user = _session(cloud, user)
        self._boss = _session(cloud, f"{user}-admin")

    def token(self, *, admin: bool = False) -> str:
        """Return the owner's token, or that of the administrator in the same project."""
        session = self._boss if admin else self._user
        return str(self._patiently(session.get_token))

    def survey(self, cluster: Cluster) -> Survey:
        """Return what there is of a cluster, as soon as all services answer."""
        return self._patiently(lambda: self._survey(cluster))

    def inventory(self) -> dict[str, str]:
        """Return all that is in the owner's project, and all trusts: words by ids."""
        return self._patiently(lambda: dict(self._everything()))

    def _survey(self, cluster: Cluster) -> Survey:
        mark = short_id(cluster)
        stacks = self._stacks({"tags": cluster.uuid})
        known = {ident for stack in stacks for ident in self._objects_of(stack)}
        things = list(self._things())
        addresses = _addresses(things)
        return Survey(
            stacks=tuple(
                Stack(id=one["id"], name=one["stack_name"], status=one["stack_status"])
                for one in stacks
            ),
            servers=tuple(
                self._server(one, addresses[one["id"]]) for one in self._servers({"name": mark})
            ),
            things=tuple(
                Thing(kind=kind, id=one["id"], name=_name(one), known=one["id"] in known)
                for kind, one in things
                if mark in f"{one.get('name')} {one.get('description')}"
            ),
            trust=cluster.trust_id in {one["id"] for one in self._trusts()},
        )

    def _everything(self) -> Iterator[tuple[str, str]]:
        for stack in self._stacks({}):
            yield stack["id"], f"stack {stack['stack_name']}, {stack['stack_status']}"
        for server in self._servers({}):
            yield server["id"], f"server {server['name']}, {server['status']}"
        for kind, one in self._things():
            yield one["id"], f"{kind} {_name(one)} {one.get('description') or ''}"
        for trust in self._trusts():
            yield trust["id"], f"trust of {trust['trustor_user_id']}"

    def _stacks(self, query: Mapping[str, str]) -> list[dict[str, Any]]:
        found = self._get(self._user, "orchestration", "/stacks", query)["stacks"]
        return [one for one in found if one["stack_status"] != "DELETE_COMPLETE"]

    def _objects_of(self, stack: Mapping[str, Any]) -> Iterator[str]:
        path = f"/stacks/{stack['stack_name']}/{stack['id']}/resources"
        query = {"nested_depth": str(DEEPEST)}
        with contextlib.suppress(NotFound):
            for one in self._get(self._user, "orchestration", path, query)["resources"]:
                yield str(one.get("physical_resource_id"))

    def _servers(self, query: Mapping[str, str]) -> list[dict[str, Any]]:
        mine = {"all_tenants": "1", "project_id": str(self._user.get_project_id())}
        return list(self._compute("/servers/detail", {**mine, **query})["servers"])

    def _server(self, one: Mapping[str, Any], addresses: set[str]) -> Server:
        actions: Iterable[Mapping[str, Any]] = ()
        with contextlib.suppress(NotFound):
            path = f"/servers/{one['id']}/os-instance-actions"
            actions = self._compute(path, {})["instanceActions"]
        return Server(
            id=one["id"],
            name=one["name"],
            status=one["status"],
            task=one["OS-EXT-STS:task_state"],
            addresses=tuple(sorted(addresses)),
            version=version_in(one.get("OS-EXT-SRV-ATTR:user_data")),
            actions=tuple(_act(action) for action in actions),
        )

    def _things(self) -> Iterator[tuple[str, dict[str, Any]]]:
        mine = {"project_id": str(self._user.get_project_id())}
        for kind, path in NETWORK_KINDS.items():
            listed = self._get(self._admin, "network", f"/v2.0/{path}", mine)
            for one in listed[path.replace("-", "_")]:
                yield kind, one
        headers = {"headers": COMPUTE_API}
        groups = self._get(self._user, "compute", "/os-server-groups", {}, **headers)
        for one in groups["server_groups"]:
            yield "server group", one

    def _trusts(self) -> list[dict[str, Any]]:
        return list(self._get(self._admin, "identity", "/OS-TRUST/trusts", {})["trusts"])

    def _compute(self, path: str, query: Mapping[str, str]) -> Any:
        return self._get(self._admin, "compute", path, query, headers=COMPUTE_API)

    @staticmethod
    def _get(
        session: Session, service: str, path: str, query: Mapping[str, str], **request: Any
    ) -> Any:
        where = {"service_type": service, "interface": "public"}
        if service == "identity":
            where["version"] = "3"
        return session.get(path, endpoint_filter=where, params=query, **request).json()

    @staticmethod
    def _patiently(ask: Callable[[], T]) -> T:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return ask()
            except ClientException:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.5)


def _addresses(things: Sequence[tuple[str, Mapping[str, Any]]]) -> Mapping[str, set[str]]:
    """Return the addresses of servers by their ids, from Neutron: Nova only remembers them."""
    found: dict[str, set[str]] = defaultdict(set)
    ports = {one["id"]: one for kind, one in things if kind == "port"}
    for port in ports.values():
        found[port["device_id"]] |= {entry["ip_address"] for entry in port["fixed_ips"]}
    for kind, one in things:
        if kind == "floating IP" and one["port_id"] in ports:
            found[ports[one["port_id"]]["device_id"]].add(one["floating_ip_address"])
    return found


def _session(cloud: Devcloud, user: str) -> Session:
    return Session(logins.password(cloud, user), timeout=REQUEST_SECONDS)


def _name(one: Mapping[str, Any]) -> str:
    return str(one.get("name") or one.get("floating_ip_address") or "")


def _act(action: Mapping[str, Any]) -> Act:
    return Act(
        kind=action["action"],
        request=action["request_id"],
        started=datetime.fromisoformat(action["start_time"]).replace(tzinfo=UTC),
        failed=str(action.get("message") or "").lower() == "error",
    )
