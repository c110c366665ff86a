"""Certificates and credentials of clusters."""

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.integration.isolation.row import Row

CSR = (
    x509.CertificateSigningRequestBuilder()
    .subject_name(x509.Name([]))
    .sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    .public_bytes(serialization.Encoding.PEM)
    .decode()
)

#        owner member reader stranger nobody admin
ROWS: tuple[Row, ...] = (
    # The answers name the cluster by its uuid alone.
    Row("GET /v1/certificates/{ident}", "200 403 403 404 403 200", shared=True),
    Row(
        "POST /v1/certificates",
        "201 403 403 404 403 201",
        {"cluster_uuid": "<cluster>", "csr": CSR},
        shared=True,
    ),
    Row("PATCH /v1/certificates/{cluster}", "202 202 403 404 403 202"),
    # No administrator's trust fits into a project that is not theirs.
    Row("PATCH /v1/credentials/{cluster}", "202 202 403 404 403 403"),
    Row("GET /v1/clusters/{cluster}/certificates", "200 200 200 404 403 200", shared=True),
)
