"""The way to the secrets of clusters, for the processes that have their key."""

from collections.abc import Callable
from functools import lru_cache, partial

from jeroboam.cloud import Cloud
from jeroboam.settings import Settings
from jeroboam.store import Cipher, Store
from jeroboam.store.secret_stores.base import Surroundings
from jeroboam.store.secret_stores.registry import SecretStores

SAY_EVERY = 100


def stores(settings: Settings, cipher: Cipher) -> SecretStores:
    """Return the secret stores.

    Raises:
        ConfigurationError: The one of the settings is not there, or cannot be made.
    """
    cloud = lru_cache(
        partial(Cloud, settings.cloud, timeout_seconds=settings.cloud_timeout_seconds)
    )
    return SecretStores.load(Surroundings(settings, cipher, cloud))


async def rotate_key(settings: Settings, say: Callable[[str], object]) -> bool:
    """Keep all secrets as new ones are kept; return whether all are.

    Args:
        say: Gets sentences for the operator.
    """
    cipher = Cipher.from_settings(settings)
    known = stores(settings, cipher)
    store = await Store.open(settings.resolved_database_url, cipher=cipher, secret_stores=known)
    seen = changed = failed = 0
    try:
        async for one in store.secrets.renew():
            seen, changed = seen + 1, changed + one.changed
            if one.problem:
                failed += 1
                say(f"Cluster {one.cluster_id}: {one.problem}")
            if seen % SAY_EVERY == 0:
                say(f"{seen} clusters, {changed} of them changed.")
    finally:
        await store.close()
    place = f"the store '{known.current.name}' with key {cipher.key_id}"
    say(f"{seen} clusters: {changed} changed, {failed} failed. New secrets are kept in {place}.")
    if not failed:
        say("JEROBOAM_SECRETS_OLD_KEYS is not needed any more.")
    return not failed
