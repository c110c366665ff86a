"""Rules about templates that need no look-up."""

from collections.abc import Mapping

from jeroboam.api.http.directory import Flavor
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterTemplate

BOOT_VOLUME_LABEL = "boot_volume_size"
SMALLEST_DEVICEMAPPER_VOLUME = 3

_NETWORK_DRIVERS = {
    "kubernetes": ("flannel", "calico", "cilium"),
    "swarm": ("docker", "flannel"),
    "swarm-mode": ("docker",),
    "mesos": ("docker",),
}
_VOLUME_DRIVERS = {
    "kubernetes": ("cinder",),
    "swarm": ("rexray",),
    "swarm-mode": ("rexray",),
    "mesos": ("rexray",),
}


def default_network_driver(coe: str) -> str | None:
    """Return the network driver of those who name none; COEs of other drivers have none."""
    return next(iter(_NETWORK_DRIVERS.get(coe, ())), None)


def check(template: ClusterTemplate) -> None:
    """Refuse combinations that cannot work.

    Raises:
        InvalidRequestError: With what would be right.
    """
    _check_choice("Network driver", template.network_driver, template.coe, _NETWORK_DRIVERS)
    _check_choice("Volume driver", template.volume_driver, template.coe, _VOLUME_DRIVERS)
    check_docker_volume(template, template.docker_volume_size)


def check_docker_volume(template: ClusterTemplate, size: int | None) -> None:
    """Refuse a Docker volume which is too small for the template's storage driver."""
    if template.docker_storage_driver != "devicemapper":
        return
    if size is None or size < SMALLEST_DEVICEMAPPER_VOLUME:
        raise InvalidRequestError(
            f"docker volume size {size} GB is not valid, expecting minimum value "
            f"{SMALLEST_DEVICEMAPPER_VOLUME}GB for devicemapper storage driver."
        )


def check_root_disk(flavor: Flavor, labels: Mapping[str, str]) -> None:
    """Refuse a flavor without a root disk, unless the nodes boot from a volume."""
    text = labels.get(BOOT_VOLUME_LABEL, "0")
    if not (text.isascii() and text.isdigit()):
        raise InvalidRequestError(
            f"Label '{BOOT_VOLUME_LABEL}' must be a number of gigabytes, not '{text}'."
        )
    if flavor.disk == 0 and int(text) == 0:
        raise InvalidRequestError(
            f"Flavor {flavor.name} has no root disk. Choose another one, or set the label "
            f"'{BOOT_VOLUME_LABEL}' to boot from a volume."
        )


def _check_choice(
    what: str, choice: str | None, coe: str, known: Mapping[str, tuple[str, ...]]
) -> None:
    choices = known.get(coe)
    if choice is None or choices is None or choice in choices:
        return
    raise InvalidRequestError(
        f"{what} type {choice} is not supported, expecting a {'/'.join(choices)} {what.lower()}."
    )
