"""Calls the driver's method that a step of a plan names."""

from collections.abc import Callable, Mapping, Sequence

from jeroboam.activities import threads
from jeroboam.activities.admission import Admitted
from jeroboam.drivers.base import (
    SupportsCertificateRotation,
    SupportsCredentialRotation,
    SupportsNodeGroups,
    SupportsReboot,
    SupportsRebuild,
    SupportsUpgrade,
)
from jeroboam.errors import DriverContractError
from jeroboam.models import BackendCall, Method, Node, NodeGroup


async def submit(admitted: Admitted, call: BackendCall) -> str | None:
    """Submit what a call says and return the backend id, if it gives one.

    Raises:
        DriverContractError: The driver lacks the ability, which it had when the plan was made.
        JeroboamError: Whatever the driver raises.
    """
    return await threads.call(_SUBMISSIONS[call.method], admitted, call)


def _create_cluster(admitted: Admitted, call: BackendCall) -> str:
    return admitted.driver.create_cluster(
        admitted.context, admitted.spec_of(call), admitted.step.minutes_left
    )


def _update_cluster(admitted: Admitted, call: BackendCall) -> None:
    admitted.driver.update_cluster(
        admitted.context,
        admitted.spec_of(call),
        _group(admitted, call),
        _still_there(admitted, _leaving(admitted, call)),
        admitted.step.minutes_left,
    )


def _delete_cluster(admitted: Admitted, call: BackendCall) -> None:
    admitted.driver.delete_cluster(admitted.context, admitted.spec_of(call))


def _create_node_group(admitted: Admitted, call: BackendCall) -> str:
    driver = admitted.driver
    if not isinstance(driver, SupportsNodeGroups):
        raise _lacks(admitted, call)
    return driver.create_node_group(
        admitted.context,
        admitted.spec_of(call),
        _group(admitted, call),
        admitted.step.minutes_left,
    )


def _delete_node_group(admitted: Admitted, call: BackendCall) -> None:
    driver = admitted.driver
    if not isinstance(driver, SupportsNodeGroups):
        raise _lacks(admitted, call)
    driver.delete_node_group(admitted.context, admitted.spec_of(call), _group(admitted, call))


def _upgrade_node_group(admitted: Admitted, call: BackendCall) -> None:
    driver = admitted.driver
    if not isinstance(driver, SupportsUpgrade):
        raise _lacks(admitted, call)
    driver.upgrade_node_group(
        admitted.context,
        admitted.spec_of(call),
        _group(admitted, call),
        call.batch_size,
        admitted.step.minutes_left,
    )


def _reboot_nodes(admitted: Admitted, call: BackendCall) -> None:
    driver, spec = admitted.driver, admitted.spec
    if not isinstance(driver, SupportsReboot):
        raise _lacks(admitted, call)
    driver.reboot_nodes(admitted.context, spec, spec.nodes(call.nodes), hard=call.hard)


def _rebuild_nodes(admitted: Admitted, call: BackendCall) -> None:
    driver, spec = admitted.driver, admitted.spec
    if not isinstance(driver, SupportsRebuild):
        raise _lacks(admitted, call)
    driver.rebuild_nodes(admitted.context, spec, spec.nodes(call.nodes))


def _rotate_credential(admitted: Admitted, call: BackendCall) -> None:
    driver = admitted.driver
    if not isinstance(driver, SupportsCredentialRotation):
        raise _lacks(admitted, call)
    spec = admitted.spec_of(call)
    driver.rotate_credential(
        admitted.context,
        spec,
        spec.group(call.node_group) if call.node_group else None,
        sorted(admitted.trusts - {spec.cluster.trust_id}),
        admitted.step.minutes_left,
    )


def _renew_certificates(admitted: Admitted, call: BackendCall) -> None:
    driver = admitted.driver
    if not isinstance(driver, SupportsCertificateRotation):
        raise _lacks(admitted, call)
    driver.renew_certificates(
        admitted.context,
        admitted.spec_of(call),
        _group(admitted, call),
        call.batch_size,
        admitted.step.minutes_left,
    )


_SUBMISSIONS: Mapping[Method, Callable[[Admitted, BackendCall], str | None]] = {
    Method.CREATE_CLUSTER: _create_cluster,
    Method.UPDATE_CLUSTER: _update_cluster,
    Method.DELETE_CLUSTER: _delete_cluster,
    Method.CREATE_NODE_GROUP: _create_node_group,
    Method.DELETE_NODE_GROUP: _delete_node_group,
    Method.UPGRADE_NODE_GROUP: _upgrade_node_group,
    Method.REBOOT_NODES: _reboot_nodes,
    Method.REBUILD_NODES: _rebuild_nodes,
    Method.ROTATE_CREDENTIAL: _rotate_credential,
    Method.RENEW_CERTIFICATES: _renew_certificates,
}


def _leaving(admitted: Admitted, call: BackendCall) -> Sequence[str]:
    """Return the names of the nodes that go: of the plan, or those that were chosen since."""
    if call.restore:
        return call.nodes_to_remove
    return admitted.operation.parameters.nodes_to_remove or call.nodes_to_remove


def _still_there(admitted: Admitted, names: Sequence[str]) -> tuple[Node, ...]:
    """Return the nodes with these names; one that an earlier attempt has removed is removed."""
    nodes = (node for group in admitted.spec.node_groups for node in group.nodes)
    return tuple(node for node in nodes if node.name in names)


def _group(admitted: Admitted, call: BackendCall) -> NodeGroup:
    return admitted.spec_of(call).group(call.node_group or "")


def _lacks(admitted: Admitted, call: BackendCall) -> DriverContractError:
    return DriverContractError(
        f"Driver '{admitted.driver.name}' offers no {call.method} on this worker."
    )
