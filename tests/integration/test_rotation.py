"""Rotation of authorities and credentials: real Temporal, real database, fake backend."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from jeroboam import certificates
from jeroboam.drivers.fake import node_setup
from jeroboam.models import ClusterSpec, Operation, OperationKind, OperationState, Status
from jeroboam.models.certificate import CertificateState
from tests.integration.engine import Engine, running_engine

QUICK = {"fake_group_seconds": "0.1", "fake_upgrade_seconds": "0.1"}
ROUNDS = (
    "Trust both authorities",
    "Take certificates of the new authorities",
    "Trust only the new authorities",
)


@pytest.fixture(scope="module")
def trusts() -> set[str]:
    return {"old", "new"}


@pytest.fixture(scope="module")
async def engine(
    temporal_client: Client, tmp_path_factory: pytest.TempPathFactory, trusts: set[str]
) -> AsyncIterator[Engine]:
    directory = tmp_path_factory.mktemp("engine")
    async with running_engine(temporal_client, directory, trusts=trusts) as engine:
        yield engine


async def ready(engine: Engine, **labels: str) -> ClusterSpec:
    return await engine.ready(masters=3, workers=2, labels={**QUICK, **labels}, trust_id="old")


async def signing(engine: Engine, spec: ClusterSpec) -> str:
    """Return the certificate that signs now; no other one may be left in the store."""
    (kubernetes,) = [
        one
        for one in await engine.store.certificates.list(spec.cluster.uuid)
        if one.kind == "kubernetes"
    ]
    assert kubernetes.state is CertificateState.CURRENT
    values = await engine.store.secrets.get(spec.cluster.uuid)
    assert not [name for name in values if name.startswith(("next_", "previous_", "retired_"))]
    return kubernetes.pem


def on_nodes(engine: Engine, spec: ClusterSpec) -> set[tuple[str, ...]]:
    """Return what the backend's nodes trust, in all different ways that there are."""
    return {tuple(node.authorities) for node in engine.backend(spec).nodes()}


async def stored(engine: Engine, spec: ClusterSpec) -> tuple[str, ...]:
    values = await engine.store.secrets.get(spec.cluster.uuid)
    return tuple(node_setup.authorities(certificates.from_mapping(values)))


async def rotate(engine: Engine, spec: ClusterSpec, **more: Any) -> Operation:
    return await engine.ended(await engine.ask(spec, OperationKind.ROTATE_CA, **more))


async def test_authorities_are_replaced_in_three_rounds(engine: Engine) -> None:
    """Each node trusts both while any other one has certificates of the other authority."""
    spec = await ready(engine)
    before = await signing(engine, spec)
    operation = await engine.ask(spec, OperationKind.ROTATE_CA)
    seen: list[tuple[str, ...]] = []
    while (await engine.store.operations.get(operation.uuid)).state.active:
        for found in on_nodes(engine, spec) - set(seen) - {()}:
            seen.append(found)
            _check_peers(on_nodes(engine, spec))
        await asyncio.sleep(0.02)
    ended = await engine.ended(operation)
    assert ended.state is OperationState.SUCCEEDED, ended.reason
    after = await signing(engine, spec)
    assert after != before
    assert on_nodes(engine, spec) == {await stored(engine, spec)}
    assert [len(one) for one in seen] == [2, 2, 1]
    assert seen[0] == tuple(reversed(seen[1]))
    assert seen[2] == seen[1][:1]
    assert (await engine.cluster(spec)).status is Status.UPDATE_COMPLETE


def _check_peers(found: set[tuple[str, ...]]) -> None:
    """Whoever has a certificate is trusted by all others; who never was renewed trusts the old."""
    renewed = found - {()}
    assert all(one[0] in other for one in renewed for other in renewed), found


@pytest.mark.parametrize("call", [1, 2, 4, 6])
async def test_a_failed_round_leads_back(engine: Engine, call: int) -> None:
    """From each stage all nodes return to the former authorities, and no others are stored.

    Calls 1 and 2 are the first round, of masters and workers; 4 and 6 end the other ones.
    """
    faults = {"fake_fail": "renew_certificates", "fake_fail_times": "1", "fake_fail_share": "0.5"}
    spec = await ready(engine, **faults, fake_fail_batch=str(call))
    before = await signing(engine, spec)
    ended = await rotate(engine, spec)
    assert ended.state is OperationState.FAILED
    assert (await engine.cluster(spec)).status is Status.ROLLBACK_COMPLETE, ended.reason
    assert await signing(engine, spec) == before
    assert on_nodes(engine, spec) <= {(), await stored(engine, spec)}


async def test_a_cancelled_rotation_leads_back(engine: Engine) -> None:
    """Cancelled in the middle, the former authorities sign, and nodes trust no others."""
    spec = await ready(engine, fake_group_seconds="1")
    before = await signing(engine, spec)
    operation = await engine.ask(spec, OperationKind.ROTATE_CA)
    running = await engine.at_step(operation, ROUNDS[1])
    await engine.operations.cancel(running, "Enough.")
    ended = await engine.ended(operation, 60)
    assert ended.state is OperationState.CANCELLED, ended.reason
    assert (await engine.cluster(spec)).status is Status.ROLLBACK_COMPLETE
    assert await signing(engine, spec) == before
    assert on_nodes(engine, spec) == {await stored(engine, spec)}


async def test_a_retry_makes_other_authorities(engine: Engine) -> None:
    """After a roll-back the same operation is taken up again, from its first step."""
    spec = await ready(engine, fake_fail="renew_certificates", fake_fail_times="1")
    before = await signing(engine, spec)
    operation = await rotate(engine, spec)
    assert operation.state is OperationState.FAILED
    await engine.operations.retry(operation)
    ended = await engine.ended(operation)
    assert ended.state is OperationState.SUCCEEDED, ended.reason
    assert await signing(engine, spec) != before
    assert on_nodes(engine, spec) == {await stored(engine, spec)}


async def test_a_delete_takes_over(engine: Engine) -> None:
    """A cluster in the middle of a rotation can be removed."""
    spec = await ready(engine, fake_group_seconds="20")
    operation = await engine.ask(spec, OperationKind.ROTATE_CA)
    await engine.at_step(operation, ROUNDS[0])
    await engine.delete(spec.cluster)
    await engine.gone(spec)


async def test_keys_are_not_in_history(engine: Engine) -> None:
    """Temporal keeps the names of stages and nothing of what is stored."""
    spec = await ready(engine)
    await rotate(engine, spec)
    history = await engine.run(spec).fetch_history()
    text = history.to_json()
    values = await engine.store.secrets.get(spec.cluster.uuid)
    assert "PRIVATE KEY" not in text
    assert not [value for value in values.values() if value in text]


async def test_a_credential_is_replaced(engine: Engine) -> None:
    """The backend and the record have the new one, and the former one is revoked afterwards."""
    spec = await ready(engine)
    owner = spec.cluster.user_id
    ended = await _rotated(engine, spec)
    assert ended.state is OperationState.SUCCEEDED, ended.reason
    cluster = await engine.cluster(spec)
    assert (cluster.trust_id, cluster.user_id) == ("new", owner)
    assert engine.backend(spec).credential == "new"
    assert engine.revoked[-1:] == ["old"]
    assert [step.name for step in ended.steps][-1] == "Revoke the former credential"


async def test_a_new_owner_takes_over(engine: Engine, trusts: set[str]) -> None:
    """The former owner's credential is of no use, and nothing of the operation needs it."""
    spec = await ready(engine)
    trusts.discard("old")
    try:
        ended = await _rotated(engine, spec, owner_id="another")
    finally:
        trusts.add("old")
    assert ended.state is OperationState.SUCCEEDED, ended.reason
    assert (await engine.cluster(spec)).user_id == "another"


async def test_a_failed_one_puts_the_former_credential_back(engine: Engine) -> None:
    """The record never changed, the backend is led back, and the new one is withdrawn."""
    spec = await ready(engine, fake_fail="rotate_credential", fake_fail_times="1")
    engine.revoked.clear()
    ended = await _rotated(engine, spec)
    assert ended.state is OperationState.FAILED
    cluster = await engine.cluster(spec)
    assert (cluster.trust_id, cluster.status) == ("old", Status.ROLLBACK_COMPLETE)
    assert engine.backend(spec).credential == "old"
    assert engine.revoked == ["new"]


async def test_a_useless_credential_changes_nothing(engine: Engine) -> None:
    """It is tried first; the cluster stays as it was, and what is useless is withdrawn."""
    spec = await ready(engine)
    engine.revoked.clear()
    ended = await _rotated(engine, spec, trust_id="unknown")
    assert ended.state is OperationState.FAILED
    assert (await engine.cluster(spec)).status is Status.CREATE_COMPLETE
    assert engine.backend(spec).credential is None
    assert engine.revoked == ["unknown"]


async def test_a_removal_takes_all_credentials_along(engine: Engine) -> None:
    """Also those that a rotation had made when the removal took over from it."""
    spec = await ready(engine, fake_group_seconds="20")
    operation = await engine.ask(spec, OperationKind.ROTATE_CREDENTIAL, trust_id="new")
    await engine.at_step(operation, "Wait: Hand the cluster")
    engine.revoked.clear()
    await engine.delete(spec.cluster)
    await engine.gone(spec)
    assert set(engine.revoked) == {"old", "new"}


async def test_each_stage_survives_a_worker(temporal_client: Client, tmp_path: Path) -> None:
    """Stopped at each border between stages, the rotation goes on with the next worker."""
    queue = "rotation-borders"
    begun: Mapping[str, Any] = {"queue": queue, "trusts": {"old", "new"}}
    async with running_engine(temporal_client, tmp_path, **begun) as engine:
        spec = await ready(engine)
        before = await signing(engine, spec)
        operation = await engine.ask(spec, OperationKind.ROTATE_CA)
        await engine.at_step(operation, "Trust both")
    for border in ROUNDS[1:]:
        async with running_engine(temporal_client, tmp_path, **begun) as engine:
            await engine.at_step(operation, border, 60)
    async with running_engine(temporal_client, tmp_path, **begun) as engine:
        ended = await engine.ended(operation, 60)
        assert ended.state is OperationState.SUCCEEDED, ended.reason
        assert await signing(engine, spec) != before
        assert on_nodes(engine, spec) == {await stored(engine, spec)}


async def _rotated(engine: Engine, spec: ClusterSpec, **parameters: Any) -> Operation:
    asked = await engine.ask(
        spec, OperationKind.ROTATE_CREDENTIAL, **{"trust_id": "new", **parameters}
    )
    return await engine.ended(asked)
