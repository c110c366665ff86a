"""What the API looks up in the cloud before it accepts a request."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Image:
    """A Glance image, as far as clusters care.

    Args:
        properties: Its free properties, ``magnum_distro`` and ``os_distro`` among them.
    """

    id: str
    name: str
    properties: Mapping[str, Any]


@dataclass(frozen=True)
class Flavor:
    """A Nova flavor.

    Args:
        disk: Size of its root disk in GB, 0 for none.
        vcpus: CPUs of a server, where it is known.
    """

    id: str
    name: str
    disk: int
    vcpus: int | None = None


@dataclass(frozen=True)
class Wanted:
    """Names or ids that a request mentions; ``None`` where it mentions none."""

    image: str | None = None
    flavors: tuple[str, ...] = ()
    keypair: str | None = None
    external_network: str | None = None
    fixed_network: str | None = None
    fixed_subnet: str | None = None


@dataclass(frozen=True)
class Found:
    """What of it exists, each exactly once.

    Args:
        flavors: By the name or id that was asked for.
    """

    image: Image | None
    flavors: Mapping[str, Flavor]


class CloudDirectory(Protocol):
    """Looks things up with the caller's own token, so that the cloud's own rules apply."""

    def look_up(self, wanted: Wanted) -> Awaitable[Found]:
        """Find all that is wanted.

        Raises:
            InvalidRequestError: An image, flavor, network or subnet does not exist, or the cloud
                has no service that knows such things.
            NotFoundError: The key pair does not exist.
            ConflictError: A name is not unique.
            CloudUnavailableError: A service does not answer.
        """

    def check_project(self, ident: str) -> Awaitable[None]:
        """Find a project. Of a caller whom Keystone does not let look, the word is taken.

        Raises:
            NotFoundError: It does not exist.
            CloudUnavailableError: Keystone does not answer.
        """
