"""The profiles from which Senlin makes servers. Pure.

What holds for all servers stands in the driver's file, to which that of the single node is added.
"""

from collections.abc import Mapping
from typing import Any

import yaml

from jeroboam.drivers.nodes.files import Files
from jeroboam.drivers.senlin.network import Place
from jeroboam.drivers.servers.orders import Order
from jeroboam.errors import DriverContractError

PROFILE = "profile.yaml"

_TYPE = "os.nova.server"
_NOBODY = "127.0.0.1"
"""Stands for a floating IP where there is none."""


def read(files: Files) -> Mapping[str, Any]:
    """Return what the profiles of all servers have in common.

    Raises:
        DriverContractError: The file is no profile of servers.
    """
    try:
        spec = yaml.safe_load(files.read(PROFILE))
    except yaml.YAMLError as error:
        raise DriverContractError(f"{PROFILE} is no YAML: {error}") from None
    if not isinstance(spec, Mapping) or spec.get("type") != _TYPE:
        raise DriverContractError(f"{PROFILE} is no profile of the type {_TYPE}.")
    return spec


def of_groups(common: Mapping[str, Any], order: Order) -> dict[str, Any]:
    """Return the profile that the clusters have themselves, of which no server is made."""
    sample = order["servers"][0]
    properties = {name: sample[name] for name in ("flavor", "image", "key_name")}
    # Senlin checks the networks even of a profile that has none.
    return _with(common, {**properties, "networks": []})


def of_server(
    common: Mapping[str, Any], order: Order, server: Mapping[str, Any], places: Mapping[str, Place]
) -> dict[str, Any]:
    """Return the profile of one server, its own addresses in its user data."""
    own = places[server["name"]]
    return _with(
        common,
        {
            "name": server["name"],
            "flavor": server["flavor"],
            "image": server["image"],
            "key_name": server["key_name"],
            "availability_zone": server["zone"],
            "metadata": dict(server["metadata"]),
            "networks": [{"port": own.port}],
            "user_data": _user_data(order, server, own, places[order["api_node"]]),
        },
    )


def _with(common: Mapping[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in properties.items() if value is not None}
    return {**common, "properties": {**(common.get("properties") or {}), **given}}


def _user_data(order: Order, server: Mapping[str, Any], own: Place, api: Place) -> str:
    text = str(order["user_data"][server["group"]])
    for word, value in {
        "__NODE_NAME__": server["name"],
        "__NODE_INDEX__": server["index"],
        "__NODE_ADDRESS__": own.address,
        "__PUBLIC_ADDRESS__": own.public or _NOBODY,
        "__MASTER_ADDRESSES__": api.address,
        "__API_ADDRESS__": api.address,
        "__API_PUBLIC_ADDRESS__": api.public or _NOBODY,
        "__ETCD_VOLUME__": "",
        "__STORAGE_VOLUME__": "",
    }.items():
        text = text.replace(word, value)
    return text
