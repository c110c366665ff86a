"""Users of programs in clusters: real Temporal, real database, a backend that notes what it gets.

What Keystone makes of it is tried in ``tests/acceptance/test_cloud_account.py``.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from temporalio.client import Client

from jeroboam.drivers.base import DriverContext, SupportsCloudAccount
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.errors import BackendFailedError, ClusterUnreachableError, JeroboamError
from jeroboam.models import (
    ClusterSpec,
    Operation,
    OperationKind,
    OperationState,
    Status,
    StepState,
    rotation,
)
from tests.integration.engine import Engine, running_engine

QUICK = {"fake_group_seconds": "0.1"}
MAKE = "Make a user for programs in the cluster"


class AccountDriver(FakeDriver, SupportsCloudAccount):
    """Notes which user a cluster was built with, and which one it was given later."""

    given: tuple[str, ...] = ()
    objection: ClassVar[JeroboamError | None] = None
    """What it raises the next time."""
    silent: ClassVar[bool] = False
    """Whether clusters answer nothing."""

    def needs_cloud_account(self, spec: ClusterSpec) -> bool:
        return spec.cluster.trust_id is not None

    def create_cluster(
        self, context: DriverContext, spec: ClusterSpec, timeout_minutes: int
    ) -> str:
        if self.needs_cloud_account(spec):
            self.note(context)
        return super().create_cluster(context, spec, timeout_minutes)

    def hand_over_account(self, context: DriverContext, spec: ClusterSpec) -> None:
        if AccountDriver.silent:
            raise ClusterUnreachableError("The cluster does not answer.")
        if objection := AccountDriver.objection:
            AccountDriver.objection = None
            raise objection
        self.note(context)

    def note(self, context: DriverContext) -> None:
        account = context.read_secrets().account
        assert account is not None
        AccountDriver.given = (*AccountDriver.given, account.user_id)


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    yield
    AccountDriver.given, AccountDriver.objection, AccountDriver.silent = (), None, False


@pytest.fixture(scope="module")
async def engine(
    temporal_client: Client, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Engine]:
    directory = tmp_path_factory.mktemp("engine")
    begun: dict[str, Any] = {"driver": AccountDriver, "trusts": {"old", "new"}}
    async with running_engine(temporal_client, directory, **begun) as engine:
        yield engine


async def ready(engine: Engine, **labels: str) -> ClusterSpec:
    return await engine.ready(labels={**QUICK, **labels}, trust_id="old")


def users(engine: Engine, spec: ClusterSpec) -> list[str]:
    return [name for name in engine.accounts.users if spec.cluster.uuid in name]


async def stored(engine: Engine, spec: ClusterSpec) -> dict[str, str]:
    values = await engine.store.secrets.get(spec.cluster.uuid)
    return {name: text for name, text in values.items() if "account" in name}


async def rotated(engine: Engine, spec: ClusterSpec, trust_id: str = "new") -> Operation:
    kind = OperationKind.ROTATE_CREDENTIAL
    return await engine.ended(await engine.ask(spec, kind, trust_id=trust_id))


async def test_a_user_is_made_before_the_cluster(engine: Engine) -> None:
    spec = await ready(engine)
    (name,) = users(engine, spec)
    assert AccountDriver.given == (name,)
    assert (await stored(engine, spec))["account_trust_id"] == "below-old"


async def test_a_cluster_without_such_programs_has_none(engine: Engine) -> None:
    spec = await engine.ready(labels=QUICK)
    operation = await engine.store.operations.get((await engine.cluster(spec)).operation_id or "")
    assert MAKE not in [step.name for step in operation.steps]
    assert users(engine, spec) == []


async def test_it_goes_with_the_cluster(engine: Engine) -> None:
    spec = await ready(engine)
    await engine.delete(spec.cluster)
    await engine.gone(spec)
    assert users(engine, spec) == []


async def test_it_is_replaced_with_the_credential(engine: Engine) -> None:
    """The cluster gets the new one before the former one is removed."""
    spec = await ready(engine)
    (former,) = users(engine, spec)
    ended = await rotated(engine, spec)
    assert ended.state is OperationState.SUCCEEDED, ended.reason
    (name,) = users(engine, spec)
    assert AccountDriver.given == (former, name)
    assert name != former
    values = await stored(engine, spec)
    assert (values["account_name"], values["account_trust_id"]) == (name, "below-new")
    assert not [one for one in values if one.startswith("former")]
    last = [step.name for step in ended.steps][-2:]
    assert last == ["Remove the former user", "Revoke the former credential"]


@pytest.mark.parametrize(
    ("where", "left"), [("cluster", Status.CREATE_COMPLETE), ("backend", Status.ROLLBACK_COMPLETE)]
)
async def test_a_failed_rotation_gives_the_former_one_back(
    engine: Engine, where: str, left: Status
) -> None:
    """Whether the cluster refuses it, or the backend fails afterwards."""
    faults = {"fake_fail": "rotate_credential", "fake_fail_times": "1"}
    spec = await ready(engine, **(faults if where == "backend" else {}))
    (former,) = users(engine, spec)
    before = await stored(engine, spec)
    if where == "cluster":
        AccountDriver.objection = BackendFailedError("The cluster refuses.")
    ended = await rotated(engine, spec)
    assert ended.state is OperationState.FAILED
    assert (await engine.cluster(spec)).status is left, ended.reason
    assert users(engine, spec) == [former]
    assert AccountDriver.given[-1] == former
    assert await stored(engine, spec) == before


async def test_a_cluster_that_is_silent_is_asked_again(engine: Engine) -> None:
    spec = await ready(engine)
    AccountDriver.objection = ClusterUnreachableError("The cluster does not answer.")
    ended = await rotated(engine, spec)
    assert ended.state is OperationState.SUCCEEDED, ended.reason
    assert AccountDriver.given[-1:] == tuple(users(engine, spec))


async def test_a_cluster_that_stays_silent_does_not_hold_the_roll_back_up(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has what it had, and whether it could be told so is a warning."""
    monkeypatch.setattr(rotation, "HAND_SECONDS", 2)
    spec = await ready(engine)
    former, before = users(engine, spec), await stored(engine, spec)
    AccountDriver.silent = True
    ended = await rotated(engine, spec)
    assert ended.state is OperationState.FAILED
    steps = {step.name: step.state for step in ended.steps}
    assert steps["Give programs in the cluster their former user"] is StepState.WARNED
    assert (users(engine, spec), await stored(engine, spec)) == (former, before)


async def test_a_failed_rotation_can_be_taken_up_again(engine: Engine) -> None:
    spec = await ready(engine, fake_fail="rotate_credential", fake_fail_times="1")
    operation = await rotated(engine, spec)
    await engine.operations.retry(operation)
    ended = await engine.ended(operation)
    assert ended.state is OperationState.SUCCEEDED, ended.reason
    (name,) = users(engine, spec)
    assert AccountDriver.given[-1] == name
    assert engine.accounts.users[name] == (await stored(engine, spec))["account_password"]


async def test_a_useless_trust_leaves_no_user(engine: Engine) -> None:
    """The create fails; what was made of the user goes with the cluster."""
    spec = await engine.create(labels=QUICK, trust_id="unknown")
    cluster = await engine.settled(spec)
    assert cluster.status is Status.CREATE_FAILED
    assert "unknown" in (cluster.status_reason or "")
    assert AccountDriver.given == ()
    await engine.delete(cluster)
    await engine.gone(spec)


async def test_the_password_is_not_in_history(engine: Engine) -> None:
    spec = await ready(engine)
    created = (await engine.run(spec).fetch_history()).to_json()
    await rotated(engine, spec)
    text = created + (await engine.run(spec).fetch_history()).to_json()
    assert not [one for one in engine.accounts.users.values() if one in text]


async def test_a_new_worker_goes_on(temporal_client: Client, tmp_path: Path) -> None:
    """Stopped in the middle of a rotation, the next worker makes no second user."""
    begun: dict[str, Any] = {
        "queue": "account-border",
        "driver": AccountDriver,
        "trusts": {"old", "new"},
    }
    async with running_engine(temporal_client, tmp_path, **begun) as engine:
        spec = await ready(engine, fake_group_seconds="3")
        operation = await engine.ask(spec, OperationKind.ROTATE_CREDENTIAL, trust_id="new")
        await engine.at_step(operation, "Wait: Hand the cluster")
        known = dict(engine.accounts.users)
    async with running_engine(temporal_client, tmp_path, **begun) as engine:
        engine.accounts.users.update(known)
        ended = await engine.ended(operation)
        assert ended.state is OperationState.SUCCEEDED, ended.reason
        (name,) = users(engine, spec)
        assert engine.accounts.users[name] == (await stored(engine, spec))["account_password"]
