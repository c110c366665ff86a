"""The secrets of a cluster, as its nodes will check them."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from jeroboam.certificates import (
    from_mapping,
    issue_client_certificate,
    issue_cluster_secrets,
    to_mapping,
)
from jeroboam.drivers.base import CertificateAuthority, ClusterSecrets
from jeroboam.errors import ConfigurationError

NAME = "alpha-7-cluster"
AUTHORITIES = ["kubernetes", "etcd", "front_proxy"]


@pytest.fixture(scope="module")
def issued() -> ClusterSecrets:
    return issue_cluster_secrets(NAME)


@pytest.fixture(params=AUTHORITIES)
def authority(request: pytest.FixtureRequest, issued: ClusterSecrets) -> CertificateAuthority:
    found: CertificateAuthority = getattr(issued, request.param)
    return found


def _load(authority: CertificateAuthority) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    certificate = x509.load_pem_x509_certificate(authority.certificate.encode())
    key = serialization.load_pem_private_key(authority.private_key.encode(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return certificate, key


def _sign_server(authority: CertificateAuthority, host: str) -> x509.Certificate:
    """Issue a server's certificate, as a node or a driver would."""
    issuer, issuer_key = _load(authority)
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)]))
        .issuer_name(issuer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()),
            critical=False,
        )
        .sign(issuer_key, hashes.SHA256())
    )


def _verify(root: x509.Certificate, leaf: x509.Certificate, when: datetime) -> None:
    verifier = (
        PolicyBuilder()
        .store(Store([root]))
        .time(when)
        .build_server_verifier(x509.DNSName("api.example.com"))
    )
    verifier.verify(leaf, [])


def test_authority_vouches_for_servers(authority: CertificateAuthority) -> None:
    """A server's certificate that the authority signed passes full path validation."""
    certificate, _ = _load(authority)
    _verify(certificate, _sign_server(authority, "api.example.com"), datetime.now(UTC))


def test_authorities_are_independent(issued: ClusterSecrets) -> None:
    """No authority of a cluster vouches for what another one signed, for all their like names."""
    leaf = _sign_server(issued.kubernetes, "api.example.com")
    for other in (issued.etcd, issued.front_proxy):
        with pytest.raises(VerificationError):
            _verify(_load(other)[0], leaf, datetime.now(UTC))
    subjects = {_load(getattr(issued, name))[0].subject for name in AUTHORITIES}
    assert len(subjects) == 3


def test_authority_is_as_magnum_makes_it(authority: CertificateAuthority) -> None:
    """CN, self-signature, critical constraints and usage, key identifier and key."""
    certificate, key = _load(authority)
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    assert [name.value for name in names] == [NAME]
    certificate.verify_directly_issued_by(certificate)
    constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
    assert constraints.critical
    assert constraints.value.ca
    usage = certificate.extensions.get_extension_for_class(x509.KeyUsage)
    assert usage.critical
    assert usage.value.key_cert_sign
    assert usage.value.crl_sign
    assert not usage.value.key_encipherment
    identifier = certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
    assert identifier.value == x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    assert certificate.public_key() == key.public_key()
    assert isinstance(key.curve, ec.SECP256R1)


def test_validity_is_backdated(authority: CertificateAuthority) -> None:
    """A node whose clock is a day behind accepts the authority, for about five years."""
    certificate, _ = _load(authority)
    now = datetime.now(UTC)
    assert certificate.not_valid_before_utc <= now - timedelta(hours=23, minutes=59)
    assert now - timedelta(hours=25) < certificate.not_valid_before_utc
    lifetime = certificate.not_valid_after_utc - now
    assert timedelta(days=1820) < lifetime < timedelta(days=1830)


@pytest.mark.parametrize(("name", "cut"), [("x" * 242, "x" * 64), ("-" + "ö" * 70, "-" + "ö" * 31)])
def test_long_names_are_cut(name: str, cut: str) -> None:
    """A cluster's name may be longer than X.509's common name, and is cut then."""
    certificate, _ = _load(issue_cluster_secrets(name).kubernetes)
    (attribute,) = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    assert attribute.value == cut


def test_bootstrap_token_is_kubeadms(issued: ClusterSecrets) -> None:
    """The token has kubeadm's format, and the service-account key is a private key."""
    assert re.fullmatch(r"[a-z0-9]{6}\.[a-z0-9]{16}", issued.bootstrap_token)
    key = serialization.load_pem_private_key(issued.service_account_key.encode(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)


def test_every_cluster_has_its_own(issued: ClusterSecrets) -> None:
    """Nothing is shared between two clusters of one name."""
    again = to_mapping(issue_cluster_secrets(NAME))
    assert not set(again.values()) & set(to_mapping(issued).values())


def test_mapping_round_trip(issued: ClusterSecrets) -> None:
    """Secrets come back from the store's form unchanged."""
    mapping = to_mapping(issued)
    assert len(mapping) == 8
    assert from_mapping(dict(mapping)) == issued


def test_incomplete_mapping_is_told(issued: ClusterSecrets) -> None:
    """A stored set that lacks something is named, without showing the rest."""
    mapping = dict(to_mapping(issued))
    del mapping["etcd_private_key"]
    with pytest.raises(ConfigurationError, match="etcd_private_key") as caught:
        from_mapping(mapping)
    assert "BEGIN" not in str(caught.value)


def test_repr_shows_nothing(issued: ClusterSecrets) -> None:
    """No secret is visible in a repr."""
    shown = f"{issued!r} {issued.kubernetes!r}"
    assert not any(secret in shown for secret in to_mapping(issued).values())


def test_a_client_s_certificate_is_its_authority_s(issued: ClusterSecrets) -> None:
    """It names user and groups, may be used by clients only, and ends when it shall."""
    found = issue_client_certificate(
        issued.kubernetes, "somebody", timedelta(hours=2), ("viewers", "others")
    )
    certificate = x509.load_pem_x509_certificate(found.certificate.encode())
    authority, _ = _load(issued.kubernetes)
    certificate.verify_directly_issued_by(authority)
    names = {
        oid: [one.value for one in certificate.subject.get_attributes_for_oid(oid)]
        for oid in (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME)
    }
    assert names == {
        NameOID.COMMON_NAME: ["somebody"],
        NameOID.ORGANIZATION_NAME: ["viewers", "others"],
    }
    usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.CLIENT_AUTH]
    basic = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
    assert not basic.ca
    assert timedelta(minutes=119) < found.expires_at - datetime.now(UTC) <= timedelta(hours=2)
    key = serialization.load_pem_private_key(found.private_key.encode(), None)
    assert key.public_key() == certificate.public_key()
    assert "PRIVATE" not in repr(found)


def test_a_client_s_certificate_does_not_outlive_its_authority(issued: ClusterSecrets) -> None:
    """Whatever is asked for."""
    found = issue_client_certificate(issued.etcd, "somebody", timedelta(days=10000))
    authority, _ = _load(issued.etcd)
    assert found.expires_at == authority.not_valid_after_utc
