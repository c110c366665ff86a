"""Takes back the trust of a cluster that could not be stored."""

import structlog

from jeroboam.api.http.dependencies import Dependencies
from jeroboam.errors import NotFoundError
from jeroboam.models import Cluster
from jeroboam.store import Scope

log = structlog.get_logger(__name__)


async def withdraw_trust(dependencies: Dependencies, cluster: Cluster) -> None:
    """Remove the trust of a cluster that was not stored.

    Where it is not known whether it was, the trust stays: one too many does less harm than one too
    few.

    Args:
        cluster: As it would have been stored.
    """
    if cluster.trust_id is None or await _may_be_stored(dependencies, cluster):
        return
    try:
        await dependencies.trusts.delete(cluster.trust_id)
    except Exception:
        log.exception("trust_left_behind", trust_id=cluster.trust_id)


async def _may_be_stored(dependencies: Dependencies, cluster: Cluster) -> bool:
    """Whether the cluster is in the database after all with its trust, or that is not known."""
    try:
        stored = await dependencies.store.clusters.get(cluster.uuid, Scope(None))
    except NotFoundError:
        return False
    except Exception:
        log.exception("trust_left_behind", trust_id=cluster.trust_id)
        return True
    return stored.trust_id == cluster.trust_id
