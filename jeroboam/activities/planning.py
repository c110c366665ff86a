"""From an operation to its plan: the target, the driver's checks, the hooks. Writes nothing."""

from jeroboam.drivers.base import (
    ClusterDriver,
    SupportsCertificateRotation,
    SupportsCloudAccount,
    SupportsCredentialRotation,
    SupportsDrain,
    SupportsHealth,
    SupportsNodeGroups,
    SupportsReboot,
    SupportsRebuild,
    SupportsUpgrade,
)
from jeroboam.drivers.inspection import major
from jeroboam.drivers.patience import asked
from jeroboam.drivers.registry import DriverRegistry
from jeroboam.errors import ConflictError, InvalidRequestError
from jeroboam.hooks.catalogue import choose
from jeroboam.hooks.registry import HookRegistry
from jeroboam.models import Cluster, ClusterSpec, DriverFiles, Operation, OperationKind, Plan
from jeroboam.models.plans import build_plan
from jeroboam.models.targets import target_of
from jeroboam.models.work import DriverFacts, chosen_nodes
from jeroboam.store import Store

_NEEDED = {
    OperationKind.UPGRADE: SupportsUpgrade,
    OperationKind.REBUILD: SupportsRebuild,
    OperationKind.SOFT_REBOOT: SupportsReboot,
    OperationKind.HARD_REBOOT: SupportsReboot,
    OperationKind.CREATE_NODE_GROUP: SupportsNodeGroups,
    OperationKind.UPDATE_NODE_GROUP: SupportsNodeGroups,
    OperationKind.DELETE_NODE_GROUP: SupportsNodeGroups,
    OperationKind.CHECK_HEALTH: SupportsHealth,
    OperationKind.ROTATE_CA: SupportsCertificateRotation,
    OperationKind.ROTATE_CREDENTIAL: SupportsCredentialRotation,
}

_NEED_ENABLED = frozenset({OperationKind.CREATE, OperationKind.UPGRADE})


class Planner:
    """Makes plans, for runs and for dry runs alike.

    Args:
        store: Where clusters, templates and declared hooks are.
        drivers: The installed drivers.
        hooks: The installed hooks.
    """

    def __init__(self, store: Store, drivers: DriverRegistry, hooks: HookRegistry) -> None:
        self._store = store
        self._drivers = drivers
        self._hooks = hooks

    def pin(self, operation: Operation, driver: str) -> tuple[Operation, DriverFiles | None]:
        """Settle to which version of its driver an upgrade moves a cluster: the installed one.

        Args:
            driver: Name of the cluster's driver.

        Returns:
            The operation, and the files to keep with it.

        Raises:
            DriverNotFoundError: The driver is not installed, or is disabled.
        """
        if operation.kind is not OperationKind.UPGRADE:
            return operation, None
        version, files = self._drivers.get(driver).version, self._drivers.files(driver)
        parameters = operation.parameters.model_copy(
            update={"driver_version": version, "driver_files": files and files.digest}
        )
        return operation.model_copy(update={"parameters": parameters}), files

    async def plan(self, operation: Operation, spec: ClusterSpec | None = None) -> Plan:
        """Return the plan of an operation, after all that can be checked was checked.

        Args:
            spec: The cluster, where it is not stored yet.

        Raises:
            InvalidRequestError: The driver refuses it, or cannot do it.
            NotFoundError: The cluster, a template, a node group or a node does not exist.
            DriverNotFoundError: The driver is not installed, or disabled.
            ConflictError: The driver that is installed is of another major version.
        """
        if spec is None:
            recorded, target = await self._store.clusters.spec_and_target(operation)
        else:
            recorded = spec
            target = target_of(spec, operation.kind, operation.parameters)
        driver = self._driver(operation.kind, recorded.cluster)
        await asked(driver.name, check, driver, operation, recorded, target)
        hooks = choose(
            operation.kind,
            target,
            driver=driver,
            installed=self._hooks,
            declarations=await self._store.hooks.list(),
        )
        return build_plan(
            operation.kind,
            recorded,
            target,
            operation.parameters,
            hooks=hooks,
            rollback=operation.rollback,
            driver=DriverFacts(
                queue=self._drivers.entry(driver.name).queue,
                drains=isinstance(driver, SupportsDrain),
                account=await needs_account(driver, recorded),
            ),
        )

    def _driver(self, kind: OperationKind, cluster: Cluster) -> ClusterDriver:
        """Return the driver; what is disabled still serves the clusters that are there.

        Raises:
            DriverNotFoundError: It is not installed, or disabled for what the operation wants.
            ConflictError: The one that is installed is of another major version.
        """
        if kind in _NEED_ENABLED:
            driver = self._drivers.get(cluster.driver)
        else:
            driver = self._drivers.installed(cluster.driver)
        if not kind.deletes and major(driver.version) != major(cluster.driver_version):
            raise ConflictError(
                f"The cluster was built by version {cluster.driver_version} of the driver "
                f"{cluster.driver}, and {driver.version} is installed. Another major version does "
                "not work on it; it can only be deleted. Your operator can install the former one "
                "again."
            )
        return driver


async def needs_account(driver: ClusterDriver, spec: ClusterSpec) -> bool:
    """Return whether programs in a cluster need a user of their own."""
    if not isinstance(driver, SupportsCloudAccount):
        return False
    return await asked(driver.name, driver.needs_cloud_account, spec)


def check(
    driver: ClusterDriver, operation: Operation, spec: ClusterSpec, target: ClusterSpec
) -> None:
    """Ask the driver whether it can and may do what an operation wants. No I/O.

    Raises:
        InvalidRequestError: It cannot or may not.
    """
    kind, parameters = operation.kind, operation.parameters
    needed = _NEEDED.get(kind)
    if needed and not isinstance(driver, needed):
        raise InvalidRequestError(
            f"The driver {driver.name} of this cluster cannot {kind.words}. "
            "Ask your operator which drivers can."
        )
    if kind in {OperationKind.UPDATE, OperationKind.RESIZE}:
        group = spec.group(parameters.node_group or "")
        spec.nodes(parameters.nodes_to_remove)
        driver.check_resize(spec, group, target.group(group.uuid).node_count)
    elif isinstance(driver, SupportsUpgrade) and kind is OperationKind.UPGRADE:
        driver.validate(target)
        driver.check_upgrade(spec, target)
    elif isinstance(driver, SupportsRebuild) and kind is OperationKind.REBUILD:
        driver.check_rebuild(spec, chosen_nodes(spec, parameters))
    elif isinstance(driver, SupportsCertificateRotation) and kind is OperationKind.ROTATE_CA:
        if spec.template.tls_disabled:
            raise InvalidRequestError(
                f"Cluster {spec.cluster.name} uses no certificates: its template has tls_disabled."
            )
        driver.check_certificate_rotation(spec)
    elif isinstance(driver, SupportsNodeGroups) and parameters.group:
        driver.check_node_group(target, target.group(parameters.group.uuid))
