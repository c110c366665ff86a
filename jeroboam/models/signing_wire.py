"""What crosses the wire to Temporal when an authority of a cluster shall sign."""

from jeroboam.models.base import Model, RunInput
from jeroboam.models.certificate import CertificateKind

SIGN_CERTIFICATE_WORKFLOW = "SignCertificate"


class SigningRequest(RunInput):
    """The input of the workflow and of its one activity; nothing of it is secret.

    Args:
        csr: A certificate request, PEM-encoded.
    """

    request_id: str
    cluster_id: str
    kind: CertificateKind
    csr: str


class SigningAnswer(Model):
    """The certificate, PEM-encoded."""

    pem: str
