"""Rotation of a cluster's certificate authorities, and of the credential with which it acts."""

from fastapi import APIRouter
from fastapi.responses import Response

from jeroboam.api.http import accepting, versions
from jeroboam.api.http.accepting import Wish
from jeroboam.api.http.answers import ACCEPTED, answer, answered
from jeroboam.api.http.dependencies import CurrentCaller, Injected
from jeroboam.api.http.gates import since
from jeroboam.api.http.new_credential import rotate_credential
from jeroboam.api.http.paging import DryRunArgument, dry_run_arguments
from jeroboam.api.http.permitted import permitted_cluster
from jeroboam.api.http.routes.certificates import certificates_of
from jeroboam.api.http.schemas.cluster import ClusterReference
from jeroboam.models import OperationKind

router = APIRouter(prefix="/v1", tags=["certificates"])

_ANSWERS = answered(ACCEPTED, ClusterReference)


@router.patch("/certificates/{cluster}", dependencies=[dry_run_arguments], **_ANSWERS)
async def rotate_authorities(
    cluster: str,
    dependencies: Injected,
    caller: CurrentCaller,
    *,
    dry_run: DryRunArgument = False,
) -> Response:
    """Replace all CAs of a cluster, in three rounds through its nodes.

    Clients go on to work if they trust what ``GET /v1/certificates/{cluster}`` shows meanwhile.
    Certificates that the former CAs have signed end with the last round.
    """
    owner = await permitted_cluster(dependencies, caller, cluster, "certificate:rotate_ca")
    await certificates_of(dependencies, owner)
    wish = Wish(owner, OperationKind.ROTATE_CA)
    outcome = await accepting.accept(dependencies, caller, wish, dry_run=dry_run)
    return answer(outcome, ClusterReference(uuid=owner.uuid))


@router.patch(
    "/credentials/{cluster}",
    dependencies=[since(versions.CREDENTIALS, "patch"), dry_run_arguments],
    **_ANSWERS,
)
async def rotate_cluster_credential(
    cluster: str,
    dependencies: Injected,
    caller: CurrentCaller,
    *,
    dry_run: DryRunArgument = False,
) -> Response:
    """Have a cluster act for the caller from now on, by a trust that is made in this request.

    Where the former owner was disabled or has left the project, the caller becomes its owner.
    """
    owner = await permitted_cluster(dependencies, caller, cluster, "credential:rotate")
    outcome = await rotate_credential(dependencies, caller, owner, dry_run=dry_run)
    return answer(outcome, ClusterReference(uuid=owner.uuid))
