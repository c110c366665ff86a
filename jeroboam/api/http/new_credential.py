"""Accepts rotations of clusters' credentials: all checks, then the trust, then the operation."""

from dataclasses import replace

import structlog

from jeroboam.api.http import accepting
from jeroboam.api.http.accepting import Outcome, Wish
from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.errors import InvalidRequestError, JeroboamError, NotFoundError
from jeroboam.models import Cluster, OperationKind, Parameters

log = structlog.get_logger(__name__)


async def rotate_credential(
    dependencies: Dependencies, caller: Caller, cluster: Cluster, *, dry_run: bool
) -> Outcome:
    """Begin to have a cluster act by a trust of the caller.

    The caller becomes the cluster's owner where the credential of the former one is of no use any
    more, since nobody else could ask for certificates then. Otherwise the owner stays who it is: a
    colleague does not get at a cluster's certificates by this.

    Raises:
        InvalidRequestError: The cluster has no credential.
        NotAuthorizedError: The caller has no role to delegate, or Keystone refuses.
        JeroboamError: See ``accepting.accept``.
    """
    wish = Wish(cluster, OperationKind.ROTATE_CREDENTIAL)
    outcome = await accepting.accept(dependencies, caller, wish, dry_run=True)
    if cluster.trust_id is None:
        raise InvalidRequestError(
            f"Cluster {cluster.name} has no credential: its driver, {cluster.driver}, does not act "
            "for its owner."
        )
    if dry_run:
        return outcome
    works = await dependencies.trusts.works(cluster.trust_id)
    trust_id = await dependencies.trusts.create(caller)
    owner_id = None if works else caller.identity.user_id
    parameters = Parameters(trust_id=trust_id, owner_id=owner_id)
    try:
        driver = dependencies.drivers.installed(cluster.driver)
        await dependencies.trusts.prepare_owner(caller, driver)
        wish = replace(wish, parameters=parameters)
        return await accepting.accept(dependencies, caller, wish, dry_run=False)
    except BaseException:
        await _withdraw(dependencies, cluster, trust_id)
        raise


async def _withdraw(dependencies: Dependencies, cluster: Cluster, trust_id: str) -> None:
    """Remove the trust of an operation that was not stored."""
    try:
        if trust_id not in await dependencies.store.operations.trusts(cluster):
            await dependencies.trusts.delete(trust_id)
    except NotFoundError:
        return
    except JeroboamError:
        log.exception("trust_left_behind", trust_id=trust_id)
