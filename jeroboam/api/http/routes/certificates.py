"""``/v1/certificates``, and when the certificates of a cluster end."""

from collections.abc import Sequence

from fastapi import APIRouter, Depends

from jeroboam import signing
from jeroboam.api.http.dependencies import CurrentCaller, CurrentLinks, Dependencies, Injected
from jeroboam.api.http.paging import no_arguments, only_arguments
from jeroboam.api.http.permitted import permitted_cluster
from jeroboam.api.http.schemas import certificate as schema
from jeroboam.errors import ConflictError, InvalidRequestError
from jeroboam.models import Cluster
from jeroboam.models.certificate import CertificateKind, ClusterCertificate, bundle
from jeroboam.models.signing_wire import SigningRequest
from jeroboam.store import Scope

CREATED = 201

router = APIRouter(prefix="/v1", tags=["certificates"])


@router.get(
    "/certificates/{ident}",
    dependencies=[Depends(only_arguments("ca_cert_type"))],
    response_model_exclude_unset=True,
)
async def show_authority(
    ident: str,
    dependencies: Injected,
    caller: CurrentCaller,
    links: CurrentLinks,
    ca_cert_type: str | None = None,
) -> schema.CertificateBody:
    """Show the CA of a cluster: ``kubernetes``, ``etcd`` or ``front_proxy``.

    While CAs are rotated ``pem`` holds both, the one that signs first: trust all of them. An
    unknown ``ca_cert_type`` is ``kubernetes``, as in Magnum.
    """
    cluster = await permitted_cluster(dependencies, caller, ident, "certificate:get")
    kind = CertificateKind.named(ca_cert_type)
    pem = bundle(await certificates_of(dependencies, cluster, kind), kind)
    return schema.authorities(cluster.uuid, pem, links)


@router.post(
    "/certificates",
    status_code=CREATED,
    dependencies=[no_arguments],
    response_model_exclude_unset=True,
)
async def sign_certificate(
    body: schema.CertificateCreate,
    dependencies: Injected,
    caller: CurrentCaller,
    links: CurrentLinks,
) -> schema.CertificateBody:
    """Have a CA of a cluster sign a certificate request, of which it copies the subject.

    Whoever may do so can become anybody in the cluster, unless the operator has limited what is
    signed. No signature can be called back before it ends.
    """
    cluster = await permitted_cluster(dependencies, caller, body.cluster_uuid, "certificate:create")
    kind = CertificateKind.named(body.ca_cert_type)
    await certificates_of(dependencies, cluster, kind)
    signing.check(body.csr, kind, signing.SigningRules.of(dependencies.settings))
    wish = SigningRequest(
        request_id=caller.request_id, cluster_id=cluster.uuid, kind=kind, csr=body.csr
    )
    pem = await dependencies.signer.sign(wish)
    return schema.signed(body, cluster.uuid, pem, links)


@router.get("/clusters/{cluster}/certificates", dependencies=[no_arguments])
async def list_authorities(
    cluster: str, dependencies: Injected, caller: CurrentCaller
) -> schema.AuthorityList:
    """List a cluster's CAs with the times when they end; empty before it has any."""
    owner = await permitted_cluster(dependencies, caller, cluster, "certificate:get_all")
    found = await dependencies.store.certificates.list(owner.uuid)
    return schema.AuthorityList(
        cluster_uuid=owner.uuid, certificates=[schema.AuthorityBody.of(one) for one in found]
    )


async def certificates_of(
    dependencies: Dependencies, cluster: Cluster, kind: CertificateKind | None = None
) -> Sequence[ClusterCertificate]:
    """Return the CAs of a cluster, which has to have some.

    Args:
        kind: One that has to be among them.

    Raises:
        InvalidRequestError: Its template switches TLS off.
        ConflictError: It has none yet, or none of this kind.
    """
    template = await dependencies.store.templates.get(cluster.cluster_template_id, Scope(None))
    if template.tls_disabled:
        raise InvalidRequestError(
            f"Cluster {cluster.name} has no certificates: its template has tls_disabled set."
        )
    found = await dependencies.store.certificates.list(cluster.uuid)
    if not found:
        raise ConflictError(
            f"Cluster {cluster.name} is {cluster.status} and has no certificates"
            + (" yet. Try again in a minute." if cluster.status.in_progress else ".")
        )
    if kind and all(one.kind is not kind for one in found):
        raise ConflictError(
            f"Of the authority {kind} of cluster {cluster.name} nothing is known: the cluster was "
            "imported without its key."
        )
    return found
