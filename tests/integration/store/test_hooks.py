"""Declarations of hooks: stored whole, their secrets encrypted."""

import pytest
from sqlalchemy import select

from jeroboam.errors import ConfigurationError, ConflictError, NotFoundError
from jeroboam.models import FailurePolicy, HookPhase, HookSource, OperationKind
from jeroboam.models.hook import HookDeclaration, HookScope
from jeroboam.store import Cipher, Store
from jeroboam.store.query import fetch_all
from jeroboam.store.tables import HookRow
from tests.integration.store.conftest import KEY

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def a_hook(name: str = "approve", **changes: object) -> HookDeclaration:
    values = {
        "name": name,
        "source": HookSource.WEBHOOK,
        "url": "https://hooks.example.org/",
        "phases": (HookPhase.BEFORE,),
    }
    return HookDeclaration(**values | changes)


async def test_declaration_comes_back_whole(store: Store) -> None:
    """All that was declared comes back, by name and by uuid."""
    hook = a_hook(
        operations=(OperationKind.CREATE,),
        scope=HookScope.PROJECT,
        scope_id="p1",
        runs_after=("other",),
        timeout_seconds=7,
        on_failure=FailurePolicy.WARN,
        enabled=False,
        options={"deep": {"list": [1, "ä", None]}},
    )
    await store.hooks.add(hook, SECRET)
    assert await store.hooks.get("approve") == hook
    assert await store.hooks.get(hook.uuid.upper()) == hook
    assert await store.hooks.secret(hook.uuid) == SECRET


async def test_list_is_by_name(store: Store) -> None:
    """The list has all of them by name."""
    for name in ("c", "a", "b"):
        await store.hooks.add(a_hook(name), None)
    assert [hook.name for hook in await store.hooks.list()] == ["a", "b", "c"]


async def test_name_is_unique(store: Store) -> None:
    """A name is given once, also by a change."""
    await store.hooks.add(a_hook(), None)
    with pytest.raises(ConflictError, match="'approve' exists already"):
        await store.hooks.add(a_hook(), None)
    other = a_hook("other")
    await store.hooks.add(other, None)
    with pytest.raises(ConflictError, match="'approve' exists already"):
        await store.hooks.update(other.model_copy(update={"name": "approve"}))


async def test_change_keeps_the_secret(store: Store) -> None:
    """A change replaces the declaration, and the secret only when a new one is given."""
    hook = a_hook()
    await store.hooks.add(hook, SECRET)
    changed = await store.hooks.update(hook.model_copy(update={"enabled": False}))
    assert changed.updated_at
    assert await store.hooks.get("approve") == changed
    assert await store.hooks.secret(hook.uuid) == SECRET
    await store.hooks.update(changed, "new")
    assert await store.hooks.secret(hook.uuid) == "new"


async def test_removal(store: Store) -> None:
    """A removed declaration is gone with its secret."""
    hook = a_hook()
    await store.hooks.add(hook, SECRET)
    await store.hooks.delete(hook.uuid)
    assert await store.hooks.secret(hook.uuid) is None
    for call in (store.hooks.get("approve"), store.hooks.delete(hook.uuid)):
        with pytest.raises(NotFoundError):
            await call
    with pytest.raises(NotFoundError):
        await store.hooks.update(hook)


async def test_secret_is_encrypted(store: Store) -> None:
    """In the database there is no secret, and an envelope fits its own row only."""
    await store.hooks.add(a_hook(), SECRET)
    other = a_hook("other")
    await store.hooks.add(other, None)
    rows = [dict(row) for row in await store._database.read(fetch_all, select(HookRow))]
    assert SECRET not in str(rows)
    envelope = next(row["secret"] for row in rows if row["secret"])
    with pytest.raises(ConfigurationError, match="damaged"):
        Cipher(KEY).decrypt(envelope, f"hook {other.uuid}")


async def test_process_without_the_key(store: Store, database_url: str) -> None:
    """A process without the key sees declarations, and neither reads nor writes a secret."""
    await store.hooks.add(a_hook(), SECRET)
    keyless = await Store.open(database_url)
    hook = await keyless.hooks.get("approve")
    for call in (keyless.hooks.secret(hook.uuid), keyless.hooks.add(a_hook("b"), SECRET)):
        with pytest.raises(ConfigurationError, match="without the key of the hooks"):
            await call
    await keyless.hooks.add(a_hook("c"), None)
    await keyless.close()
