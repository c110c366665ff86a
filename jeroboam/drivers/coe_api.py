"""What a driver adds to the HTTP API: routes about the engine that runs in its clusters.

A driver's ``api.py`` declares a :class:`CoeApi`; the driver returns it from
``SupportsCoeApi.coe_api``. The core mounts each route below ``/v1/clusters/{cluster}/<coe>/``, with
authentication, policy, error bodies and the description of the API, and knows nothing of the
engine. Routes are data, so that drivers need no web framework: the API process only checks the
request, and the handler runs in a worker, which alone may read a cluster's keys.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from jeroboam.drivers.base import ClusterDriver, DriverContext
from jeroboam.errors import DriverContractError, NotFoundError
from jeroboam.models import ClusterSpec, Identity, Model

R = TypeVar("R", bound=Model)

_SEGMENT = re.compile(r"[a-z][a-z0-9_-]*")
_PARAMETER = re.compile(r"\{([a-z][a-z_]*)\}")
_RULE = re.compile(r"[a-z][a-z_]*")


class Verb(StrEnum):
    """The HTTP methods that a route can have."""

    GET = "GET"
    POST = "POST"
    PUT = "PUT"
    DELETE = "DELETE"


class Access(StrEnum):
    """Who may use a route unless the operator's policy says otherwise; administrators always.

    ``READER`` and ``MEMBER`` are roles in the cluster's project. ``OWNER`` is the member who made
    the cluster, as Magnum has it for certificates.
    """

    READER = "reader"
    MEMBER = "member"
    OWNER = "owner"


class Nothing(Model):
    """The input of a route that takes none."""


@dataclass(frozen=True)
class CoeCall:
    """One request to a route.

    Args:
        context: Sessions on the cloud and the reader of the cluster's secrets. Its key is new
            with each request.
        spec: The cluster; it has an ``api_address``.
        caller: Who asks.
        arguments: What stands in the path, by name; checked by nobody yet.
    """

    context: DriverContext
    spec: ClusterSpec
    caller: Identity
    arguments: Mapping[str, str]

    @property
    def api_address(self) -> str:
        """The URL of the cluster's API."""
        return self.spec.cluster.api_address or ""


@dataclass(frozen=True)
class Route(Generic[R]):
    """One route.

    Args:
        path: Below the engine's part, for example ``nodes`` or ``apps/{name}``.
        rule: The policy rule, to which the engine's name is added: ``kubernetes:nodes``.
        summary: One sentence for the description of the API and for the policy.
        answer: What the handler returns; it goes to the caller as JSON.
        handler: Runs in a thread of a worker, has 25 seconds, and raises classes of
            ``jeroboam.errors`` only: ``ClusterUnreachableError`` or ``ClusterTimeoutError`` where
            the cluster does not answer. It gets the call, and the input that was checked.
        request: The input: the query of a ``GET`` or ``DELETE``, else the body. It stays in
            Temporal's history, so it may hold no secret; answers are encrypted there.
    """

    verb: Verb
    path: str
    rule: str
    access: Access
    summary: str
    answer: type[Model]
    handler: Callable[[CoeCall, R], Model]
    request: type[R]

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names in the path."""
        return tuple(_PARAMETER.findall(self.path))

    @property
    def takes_body(self) -> bool:
        """Whether the input is the request's body, and not its query."""
        return self.verb in {Verb.POST, Verb.PUT}


@dataclass(frozen=True)
class CoeApi:
    """All routes of one engine; drivers of the same engine share one object, or equal ones.

    Args:
        coe: The engine, as templates name it; part of the path.
    """

    coe: str
    routes: Sequence[Route[Any]]

    def check(self) -> None:
        """Check what the core relies on.

        Raises:
            DriverContractError: A path, rule or pair of verb and path cannot be.
        """
        if not _SEGMENT.fullmatch(self.coe):
            raise DriverContractError(f"'{self.coe}' cannot be part of a path.")
        seen: set[tuple[str, str]] = set()
        for route in self.routes:
            names = route.parameters
            plain = _PARAMETER.sub("x", route.path).split("/")
            bad_path = not all(_SEGMENT.fullmatch(part) for part in plain)
            if bad_path or len(set(names)) < len(names) or "cluster" in names:
                raise DriverContractError(f"'{route.path}' is no path of a route.")
            if not _RULE.fullmatch(route.rule):
                raise DriverContractError(f"'{route.rule}' is no name of a policy rule.")
            if (route.verb, route.path) in seen:
                raise DriverContractError(f"{route.verb} {route.path} is declared twice.")
            seen.add((route.verb, route.path))


class SupportsCoeApi(ABC):
    """A driver that adds routes about the engine of its clusters to the API."""

    @property
    @abstractmethod
    def coe_api(self) -> CoeApi:
        """The routes, from the driver's ``api.py``; always the same."""


def route_of(driver: ClusterDriver, coe: str, verb: str, path: str) -> Route[Any]:
    """Return the route of a cluster's driver.

    Args:
        path: As it is declared, with the names of its parameters.

    Raises:
        NotFoundError: The driver does not have it; the message says what it has.
    """
    if not isinstance(driver, SupportsCoeApi):
        raise NotFoundError(
            f"Clusters of the driver {driver.name} have no API below '{coe}': the driver adds none."
        )
    api = driver.coe_api
    if api.coe != coe:
        raise NotFoundError(
            f"The driver {driver.name} of this cluster has its API below '{api.coe}', not '{coe}'."
        )
    for route in api.routes:
        if route.verb == verb and route.path == path:
            return route
    raise NotFoundError(f"The driver {driver.name} of this cluster has no {verb} {coe}/{path}.")
