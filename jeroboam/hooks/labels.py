"""Labels that hooks add before a create. Pure."""

from collections.abc import Mapping

from jeroboam.drivers.base import ClusterDriver
from jeroboam.errors import DriverContractError, InvalidRequestError
from jeroboam.models import ClusterSpec, HookPhase, OperationKind


def added(
    driver: ClusterDriver,
    spec: ClusterSpec,
    kind: OperationKind,
    phase: HookPhase,
    wanted: Mapping[str, str],
) -> dict[str, str]:
    """Return the labels that may be added: those that are new, before a create.

    Args:
        driver: Checks the cluster with them.
        spec: The cluster as it is to be made.
        wanted: What the hook wants to add.

    Raises:
        DriverContractError: The driver refuses them.
    """
    if kind is not OperationKind.CREATE or phase is not HookPhase.BEFORE:
        return {}
    new = {key: value for key, value in wanted.items() if key not in spec.cluster.labels}
    if new:
        _check(driver, spec, new)
    return new


def remark(wanted: Mapping[str, str], taken: Mapping[str, str]) -> str:
    """Say which labels were not taken, and which were."""
    parts = []
    if taken:
        parts.append(f"Labels added: {', '.join(sorted(taken))}.")
    left = sorted(wanted.keys() - taken.keys())
    if left:
        parts.append(f"Labels not added: {', '.join(left)}.")
    return " ".join(parts)


def _check(driver: ClusterDriver, spec: ClusterSpec, new: Mapping[str, str]) -> None:
    labels = {**spec.cluster.labels, **new}
    cluster = spec.cluster.model_copy(update={"labels": labels})
    try:
        driver.validate(spec.model_copy(update={"cluster": cluster}))
    except InvalidRequestError as error:
        raise DriverContractError(
            f"The hook adds labels that the driver refuses: {error.message}"
        ) from error
