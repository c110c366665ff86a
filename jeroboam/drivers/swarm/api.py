"""Routes about Docker Swarm, shared by all drivers that build it."""

from collections.abc import Mapping
from typing import Any, Self

from jeroboam.drivers.coe_api import Access, CoeApi, CoeCall, Route, Verb
from jeroboam.drivers.docker.client import EngineApi
from jeroboam.drivers.docker.listing import AtMost
from jeroboam.models import Model

_BILLION = 1_000_000_000


class PortView(Model):
    """A port that a service publishes on every node."""

    protocol: str
    published: int
    target: int


class ServiceView(Model):
    """A service.

    Args:
        mode: ``replicated``, ``global``, or one of the jobs.
        desired: How many tasks shall run; ``None`` where Docker does not tell.
        running: How many run.
    """

    id: str
    name: str
    mode: str
    image: str
    desired: int | None
    running: int | None
    ports: tuple[PortView, ...] = ()

    @classmethod
    def of(cls, service: Mapping[str, Any]) -> Self:
        """Read a service as Docker's API shows it."""
        spec, status = service["Spec"], service.get("ServiceStatus") or {}
        container = (spec.get("TaskTemplate") or {}).get("ContainerSpec") or {}
        published = (service.get("Endpoint") or {}).get("Ports") or ()
        return cls(
            id=service["ID"],
            name=spec["Name"],
            mode=_mode(spec.get("Mode") or {}),
            image=str(container.get("Image") or "").partition("@")[0],
            desired=status.get("DesiredTasks"),
            running=status.get("RunningTasks"),
            ports=tuple(
                PortView(
                    protocol=port["Protocol"],
                    published=port["PublishedPort"],
                    target=port["TargetPort"],
                )
                for port in published
                if port.get("PublishedPort")
            ),
        )


class ServiceList(Model):
    """The services of a swarm, those that lack tasks first.

    Args:
        omitted: How many services the limit has left out.
    """

    services: tuple[ServiceView, ...]
    omitted: int


class NodeView(Model):
    """A node as the swarm sees it.

    Args:
        reachability: Of a manager: whether the others see it.
        cpus: What the swarm may use.
        memory: The same in bytes.
    """

    id: str
    name: str
    role: str
    availability: str
    state: str
    address: str | None
    reachability: str | None
    leader: bool
    docker_version: str | None
    cpus: float
    memory: int

    @classmethod
    def of(cls, node: Mapping[str, Any]) -> Self:
        """Read a node as Docker's API shows it."""
        told = node.get("Description") or {}
        resources = told.get("Resources") or {}
        status, manager = node.get("Status") or {}, node.get("ManagerStatus") or {}
        return cls(
            id=node["ID"],
            name=told.get("Hostname") or "",
            role=node["Spec"]["Role"],
            availability=node["Spec"]["Availability"],
            state=status.get("State") or "unknown",
            address=status.get("Addr"),
            reachability=manager.get("Reachability"),
            leader=bool(manager.get("Leader")),
            docker_version=(told.get("Engine") or {}).get("EngineVersion"),
            cpus=(resources.get("NanoCPUs") or 0) / _BILLION,
            memory=resources.get("MemoryBytes") or 0,
        )


class NodeList(Model):
    """The nodes of a swarm, managers first.

    Args:
        omitted: How many nodes the limit has left out.
    """

    nodes: tuple[NodeView, ...]
    omitted: int


def list_services(call: CoeCall, wish: AtMost) -> ServiceList:
    """Return the services."""
    with EngineApi.of(call.api_address, call.context.read_secrets()) as api:
        found = [ServiceView.of(one) for one in api.objects("/services?status=true")]
    found.sort(key=lambda one: ((one.running or 0) >= (one.desired or 0), one.name))
    left_out = max(0, len(found) - wish.limit)
    return ServiceList(services=tuple(found[: wish.limit]), omitted=left_out)


def list_nodes(call: CoeCall, wish: AtMost) -> NodeList:
    """Return the nodes."""
    with EngineApi.of(call.api_address, call.context.read_secrets()) as api:
        found = [NodeView.of(one) for one in api.objects("/nodes")]
    found.sort(key=lambda one: (one.role != "manager", one.name, one.id))
    left_out = max(0, len(found) - wish.limit)
    return NodeList(nodes=tuple(found[: wish.limit]), omitted=left_out)


def _mode(mode: Mapping[str, Any]) -> str:
    """Return the one word that Docker writes as a key: ``{"Replicated": {"Replicas": 2}}``."""
    return next(iter(mode), "replicated").lower()


SWARM_API = CoeApi(
    "swarm",
    (
        Route(
            Verb.GET,
            "services",
            "services",
            Access.READER,
            "List the services of a swarm, those that lack tasks first.",
            ServiceList,
            list_services,
            AtMost,
        ),
        Route(
            Verb.GET,
            "nodes",
            "nodes",
            Access.READER,
            "List the nodes of a swarm as it sees them itself.",
            NodeList,
            list_nodes,
            AtMost,
        ),
    ),
)
