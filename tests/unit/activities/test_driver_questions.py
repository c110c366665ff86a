"""Questions to a driver that runs in a worker of its own."""

import base64
from pathlib import Path

import pytest
from temporalio.testing import ActivityEnvironment

from jeroboam.activities.dependencies import Dependencies
from jeroboam.activities.driver_questions import DriverQuestions
from jeroboam.drivers.base import DriverContext, SupportsCloudAccount
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.drivers.remote import QUESTIONS
from jeroboam.errors import InvalidRequestError
from jeroboam.hooks.registry import HookRegistry
from jeroboam.models import ClusterSpec
from jeroboam.models.driver_wire import DriverQuestion
from jeroboam.settings import Settings
from jeroboam.store import Cipher, Store
from tests.fakes import AccountsInMemory, NoCloud
from tests.unit.specs import make_spec


class AccountDriver(FakeDriver, SupportsCloudAccount):
    """Has programs that log in where a label says so."""

    def needs_cloud_account(self, spec: ClusterSpec) -> bool:
        return "programs" in spec.template.labels

    def hand_over_account(self, context: DriverContext, spec: ClusterSpec) -> None:
        raise AssertionError("Nobody asks for it.")


async def ask(directory: Path, spec: ClusterSpec) -> None:
    settings = Settings(state_directory=directory)
    cipher = Cipher.from_settings(settings)
    store = await Store.open(settings.resolved_database_url, cipher=cipher, migrate=True)
    dependencies = Dependencies(
        store=store,
        drivers=DriverRegistry([DriverEntry(AccountDriver(directory))]),
        hooks=HookRegistry([]),
        cloud=lambda _: NoCloud(),
        accounts=lambda _: AccountsInMemory(),
        revoke_trust=lambda *_: None,
    )
    plain = QUESTIONS["validate"].dump_json((spec,))
    question = DriverQuestion(
        driver="fake",
        method="validate",
        sealed=base64.b64encode(cipher.encrypt(plain, "fake")).decode(),
    )
    try:
        await ActivityEnvironment().run(DriverQuestions(dependencies, cipher).ask_driver, question)
    finally:
        await store.close()


async def test_it_gives_programs_no_user(tmp_path: Path) -> None:
    """A cluster with such programs is refused before it is stored, and any other one is not."""
    spec = make_spec()
    await ask(tmp_path, spec)
    template = spec.template.model_copy(update={"labels": {"programs": "yes"}})
    with pytest.raises(InvalidRequestError, match="workers of their own"):
        await ask(tmp_path, spec.model_copy(update={"template": template}))
