"""What clusters are built from is stored once, with them, and goes when nobody needs it."""

from datetime import timedelta

import pytest

from jeroboam.errors import NotFoundError, QuotaExceededError
from jeroboam.models import (
    ClusterSpec,
    DriverFiles,
    OperationKind,
    OperationState,
    Parameters,
    Status,
    utc_now,
)
from jeroboam.models.quota import Quota
from jeroboam.store import Store
from tests.integration.store.builders import (
    PROJECT,
    a_spec,
    a_template,
    a_transition,
    an_operation,
)

OLD, NEW = DriverFiles.of({"cluster.yaml": "old"}), DriverFiles.of({"cluster.yaml": "new"})


async def built(store: Store, files: DriverFiles) -> ClusterSpec:
    """Return a cluster that was built from files."""
    template = await store.templates.add(a_template())
    spec = a_spec(template, driver_files=files.digest)
    operation = an_operation(spec.cluster)
    await store.clusters.create(spec, operation, files=files)
    ended = {"state": OperationState.SUCCEEDED, "cluster_status": Status.CREATE_COMPLETE}
    await store.operations.apply(a_transition(operation, 1, **ended))
    return await store.clusters.spec(spec.cluster.uuid)


async def upgraded(store: Store, spec: ClusterSpec, state: OperationState) -> ClusterSpec:
    """Return a cluster after an upgrade to the new files that ended in a state."""
    parameters = Parameters(
        cluster_template_id=spec.template.uuid, driver_version="1.1.0", driver_files=NEW.digest
    )
    operation = an_operation(spec.cluster, kind=OperationKind.UPGRADE, parameters=parameters)
    await store.operations.accept(operation, NEW)
    done = state is OperationState.SUCCEEDED
    status = Status.UPDATE_COMPLETE if done else Status.UPDATE_FAILED
    await store.operations.apply(
        a_transition(operation, 1, state=state, cluster_status=status, commit=done)
    )
    return await store.clusters.spec(spec.cluster.uuid)


async def removed(store: Store, spec: ClusterSpec) -> None:
    operation = an_operation(spec.cluster, kind=OperationKind.DELETE)
    await store.operations.accept(operation)
    await store.operations.apply(
        a_transition(operation, 1, state=OperationState.SUCCEEDED, remove_cluster=True)
    )


async def test_files_come_with_their_cluster(store: Store) -> None:
    """Two clusters share one set of files; what was put in comes out."""
    for _ in range(2):
        assert (await built(store, OLD)).cluster.driver_files == OLD.digest
    assert await store.driver_files.get(OLD.digest) == OLD
    with pytest.raises(NotFoundError):
        await store.driver_files.get(NEW.digest)


async def test_refused_cluster_leaves_no_files(store: Store) -> None:
    """They are stored in the transaction of the cluster's row."""
    await store.quotas.add(Quota(project_id=PROJECT, hard_limit=0))
    with pytest.raises(QuotaExceededError):
        await built(store, OLD)
    with pytest.raises(NotFoundError):
        await store.driver_files.get(OLD.digest)


async def test_upgrade_moves_the_pin(store: Store) -> None:
    """An upgrade that succeeds writes the new version and files; another one does not."""
    spec = await upgraded(store, await built(store, OLD), OperationState.FAILED)
    assert spec.cluster.driver_files == OLD.digest
    spec = await upgraded(store, spec, OperationState.SUCCEEDED)
    assert (spec.cluster.driver_version, spec.cluster.driver_files) == ("1.1.0", NEW.digest)


async def test_only_unused_files_go(store: Store) -> None:
    """Files stay with clusters, and with upgrades that can be retried; then they are removed."""
    spec = await built(store, OLD)
    await upgraded(store, spec, OperationState.FAILED)
    later = utc_now() + timedelta(minutes=1)
    assert await store.driver_files.prune(later) == 0
    await removed(store, spec)
    assert await store.driver_files.prune(utc_now() - timedelta(minutes=1)) == 0
    assert await store.driver_files.prune(later) == 2
    with pytest.raises(NotFoundError):
        await store.driver_files.get(OLD.digest)
