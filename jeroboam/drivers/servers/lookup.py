"""The ids of what a template names: engines want ids where people write names."""

from typing import Any

from openstack.connection import Connection

from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.drivers.servers.orders import Place
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec


class Finder:
    """Finds images and flavors, each of them once.

    Args:
        connection: With the rights of the cluster's owner.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection: Any = connection
        self._found: dict[tuple[str, str], str] = {}

    def image(self, name: str) -> str:
        """Return the id of an image."""
        return self._once("image", name, self._connection.image.find_image)

    def flavor(self, name: str) -> str:
        """Return the id of a flavor."""
        return self._once("flavor", name, self._connection.compute.find_flavor)

    def network(self, name: str) -> str:
        """Return the id of a network."""
        return self._once("network", name, self._connection.network.find_network)

    def subnet(self, name: str) -> str:
        """Return the id of a subnet."""
        return self._once("subnet", name, self._connection.network.find_subnet)

    def _once(self, kind: str, name: str, find: Any) -> str:
        if (kind, name) not in self._found:
            with translate_cloud_errors("OpenStack"):
                one = find(name)
            if one is None:
                raise InvalidRequestError(f"There is no {kind} {name} in the cloud.")
            self._found[kind, name] = str(one.id)
        return self._found[kind, name]


def place(connection: Connection, spec: ClusterSpec) -> Place:
    """Return where a cluster lies.

    Raises:
        InvalidRequestError: One of its networks does not exist.
    """
    finder, cluster = Finder(connection), spec.cluster
    external = spec.template.external_network_id
    return Place(
        external=finder.network(external) if external else None,
        network=finder.network(cluster.fixed_network) if cluster.fixed_network else None,
        subnet=finder.subnet(cluster.fixed_subnet) if cluster.fixed_subnet else None,
    )
