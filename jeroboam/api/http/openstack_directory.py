"""Looks things up in Glance, Nova and Neutron."""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar
from uuid import UUID

from keystoneauth1.session import Session
from openstack import exceptions as cloud_errors
from openstack.connection import Connection
from openstack.identity.v3._proxy import Proxy as IdentityV3

from jeroboam.api.http.directory import Flavor, Found, Image, Wanted
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import (
    CloudUnavailableError,
    ConfigurationError,
    ConflictError,
    CredentialRejectedError,
    InvalidRequestError,
    NotAuthorizedError,
    NotFoundError,
)

T = TypeVar("T")

_PROJECT_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Endpoints(Protocol):
    """Where the services of the cloud are found."""

    @property
    def region(self) -> str | None:
        """The region."""

    @property
    def interface(self) -> str:
        """The endpoint interface."""


class OpenStackDirectory:
    """One caller's view of the cloud.

    Args:
        session: Gives a session with the caller's token; called in a thread.
        threads: Where the synchronous clients run.
        timeout_seconds: The longest that all look-ups of a request may take.
    """

    def __init__(
        self,
        session: Callable[[], Session],
        endpoints: Endpoints,
        *,
        threads: Executor,
        timeout_seconds: float,
    ) -> None:
        self._session = session
        self._endpoints = endpoints
        self._threads = threads
        self._timeout_seconds = timeout_seconds

    async def look_up(self, wanted: Wanted) -> Found:
        """Ask all services at once; the first refusal wins."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                connection = await self._run(self._connect)
                image, flavors, *_ = await asyncio.gather(
                    self._run(lambda: _image(connection, wanted.image)),
                    self._run(lambda: _flavors(connection, wanted.flavors)),
                    self._run(lambda: _check_keypair(connection, wanted.keypair)),
                    self._run(lambda: _check_networks(connection, wanted)),
                )
        except TimeoutError as error:
            raise CloudUnavailableError(
                "The cloud's services took too long to answer. Try again later."
            ) from error
        return Found(image=image, flavors=flavors)

    async def check_project(self, ident: str) -> None:
        """Ask Keystone."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                connection = await self._run(self._connect)
                await self._run(lambda: _check_project(connection, ident))
        except TimeoutError as error:
            raise CloudUnavailableError(
                "Keystone took too long to answer. Try again later."
            ) from error

    def _connect(self) -> Connection:
        with _asking("Keystone"):
            return Connection(
                session=self._session(),
                region_name=self._endpoints.region,
                interface=self._endpoints.interface,
            )

    async def _run(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)


def _image(connection: Connection, ident: str | None) -> Image | None:
    if ident is None:
        return None
    with _asking("Glance", f"image {ident}"):
        # The client would retry a failing Glance for 15 seconds, while somebody waits for us.
        connection.image.status_code_retries = 1
        candidates = [*_image_by_id(connection, ident), *connection.image.images(name=ident)]
        found = _unique(_named(candidates, ident), "image", ident)
    # The client makes an attribute of this property, and of no other that matters here.
    distro = {"os_distro": found.os_distro} if found.os_distro else {}
    return Image(id=found.id, name=found.name, properties={**found.properties, **distro})


def _image_by_id(connection: Connection, ident: str) -> list[Any]:
    # Only ids go into a path, so that a name cannot lead to another resource.
    if not _is_uuid(ident):
        return []
    try:
        return [connection.image.get_image(ident)]
    except cloud_errors.NotFoundException:
        return []


def _flavors(connection: Connection, idents: Iterable[str]) -> Mapping[str, Flavor]:
    wanted = set(idents)
    if not wanted:
        return {}
    with _asking("Nova", f"flavor {', '.join(sorted(wanted))}"):
        flavors = [
            Flavor(id=flavor.id, name=flavor.name, disk=flavor.disk or 0, vcpus=flavor.vcpus)
            for flavor in connection.compute.flavors(details=True)
        ]
    known = {flavor.name: flavor for flavor in flavors} | {flavor.id: flavor for flavor in flavors}
    for ident in sorted(wanted - known.keys()):
        raise InvalidRequestError(f"Unable to find flavor {ident}.")
    return {ident: known[ident] for ident in wanted}


def _check_keypair(connection: Connection, name: str | None) -> None:
    if name is None:
        return
    with _asking("Nova", f"keypair {name}"):
        if all(keypair.name != name for keypair in connection.compute.keypairs()):
            raise NotFoundError(f"Unable to find keypair {name}.")


def _check_networks(connection: Connection, wanted: Wanted) -> None:
    network = wanted.external_network
    if network is not None:
        with _asking("Neutron", f"external network {network}"):
            external = list(connection.network.networks(is_router_external=True))
            _unique(_named(external, network), "external network", network)
    if wanted.fixed_network is not None:
        with _asking("Neutron", f"fixed network {wanted.fixed_network}"):
            networks = _named(connection.network.networks(), wanted.fixed_network)
            _unique(networks, "fixed network", wanted.fixed_network)
    if wanted.fixed_subnet is not None:
        with _asking("Neutron", f"fixed subnet {wanted.fixed_subnet}"):
            subnets = _named(connection.network.subnets(), wanted.fixed_subnet)
            _unique(subnets, "fixed subnet", wanted.fixed_subnet)


def _check_project(connection: Connection, ident: str) -> None:
    absent = NotFoundError(f"Project {ident} could not be found.")
    # Only what can be an id goes into a path, so that it cannot lead to another resource.
    if not _PROJECT_ID.fullmatch(ident):
        raise absent
    identity = connection.identity
    if not isinstance(identity, IdentityV3):
        return
    try:
        with _asking("Keystone", f"project {ident}"):
            try:
                identity.get_project(ident)
            except cloud_errors.NotFoundException:
                raise absent from None
    except NotAuthorizedError:
        return


def _named(things: Iterable[Any], ident: str) -> list[Any]:
    return [thing for thing in things if ident in {thing.id, thing.name}]


def _unique(found: list[Any], noun: str, ident: str) -> Any:
    """Return the only thing of that name; one that was found twice counts once."""
    distinct = {thing.id: thing for thing in found}
    if not distinct:
        raise InvalidRequestError(f"Unable to find {noun} {ident}.")
    if ident in distinct:
        return distinct[ident]
    if len(distinct) > 1:
        raise ConflictError(
            f"Multiple {noun}s exist with same name '{ident}'. Please use the {noun} ID instead."
        )
    return next(iter(distinct.values()))


def _is_uuid(ident: str) -> bool:
    try:
        UUID(ident)
    except ValueError:
        return False
    return True


@contextmanager
def _asking(service: str, what: str = "") -> Iterator[None]:
    """Say in the user's terms what went wrong with a service."""
    try:
        with translate_cloud_errors(service):
            yield
    except ConfigurationError as error:
        raise InvalidRequestError(
            f"The {what} cannot be looked up, because this cloud has no {service}."
        ) from error
    except CredentialRejectedError as error:
        raise NotAuthorizedError(
            f"{service} does not accept your token: {error.message}"
        ) from error
