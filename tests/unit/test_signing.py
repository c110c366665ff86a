"""What the authorities of clusters sign, and what not."""

import base64
import warnings
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from hypothesis import given
from hypothesis import strategies as some
from pydantic import ValidationError

from jeroboam import signing
from jeroboam.certificates import BACKDATED, issue_cluster_secrets
from jeroboam.errors import ConflictError, InvalidRequestError
from jeroboam.models.certificate import KEY_USAGES, CertificateKind
from jeroboam.settings import Settings
from jeroboam.signing import SigningRules

AUTHORITY = issue_cluster_secrets("alpha").kubernetes
ISSUER = x509.load_pem_x509_certificate(AUTHORITY.certificate.encode())
KEY = ec.generate_private_key(ec.SECP256R1())
KIND = CertificateKind.KUBERNETES
ADMIN = (("admin", NameOID.COMMON_NAME), ("system:masters", NameOID.ORGANIZATION_NAME))
NOTHING = dict.fromkeys(
    (*KEY_USAGES, "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"), False
)


def usages(*names: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{**NOTHING, **dict.fromkeys(names, True)})


def csr(*extensions: Any, subject: Any = ADMIN, key: Any = KEY, digest: Any = None) -> str:
    """Return a request; an extension is critical if it is alone in a tuple."""
    names = [x509.NameAttribute(oid, text) for text, oid in subject]
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(names))
    for one in extensions:
        critical = isinstance(one, tuple)
        builder = builder.add_extension(one[0] if critical else one, critical)
    plain = isinstance(key, ed25519.Ed25519PrivateKey)
    signed = builder.sign(key, None if plain else digest or hashes.SHA256())
    return signed.public_bytes(serialization.Encoding.PEM).decode()


def signed(text: str, rules: SigningRules | None = None) -> x509.Certificate:
    rules = rules or SigningRules()
    pem = signing.sign(AUTHORITY, signing.check(text, KIND, rules), rules)
    return x509.load_pem_x509_certificate(pem.encode())


def refused(text: str, rules: SigningRules | None = None, kind: CertificateKind = KIND) -> str:
    with pytest.raises(InvalidRequestError) as caught:
        signing.check(text, kind, rules or SigningRules())
    return caught.value.message


def extension(certificate: x509.Certificate, kind: Any) -> Any:
    return certificate.extensions.get_extension_for_class(kind).value


def test_a_request_of_magnum_s_client() -> None:
    """The subject is copied, the rest is the authority's: five years at most, and never a CA."""
    certificate = signed(csr(key=rsa.generate_private_key(65537, 2048)))
    certificate.verify_directly_issued_by(ISSUER)
    assert certificate.subject.rfc4514_string() == "O=system:masters,CN=admin"
    assert not extension(certificate, x509.BasicConstraints).ca
    now = datetime.now(UTC)
    assert certificate.not_valid_after_utc <= ISSUER.not_valid_after_utc
    assert certificate.not_valid_after_utc > now + timedelta(days=1820)
    assert certificate.not_valid_before_utc <= now - BACKDATED + timedelta(minutes=1)
    usage = extension(certificate, x509.KeyUsage)
    assert usage == usages("digital_signature", "key_encipherment", "content_commitment")
    with pytest.raises(x509.ExtensionNotFound):
        extension(certificate, x509.ExtendedKeyUsage)


@pytest.mark.parametrize(
    "key",
    [
        rsa.generate_private_key(65537, 3072),
        ec.generate_private_key(ec.SECP384R1()),
        ed25519.Ed25519PrivateKey.generate(),
    ],
    ids=["rsa", "ec", "ed25519"],
)
def test_keys_that_are_good(key: Any) -> None:
    """The certificate is for the key of the request."""
    certificate = signed(csr(key=key))
    assert certificate.public_key() == key.public_key()
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    assert extension(certificate, x509.SubjectKeyIdentifier) == identifier


@pytest.mark.parametrize(
    "key",
    [
        rsa.generate_private_key(65537, 1024),
        ec.generate_private_key(ec.SECP224R1()),
        dsa.generate_private_key(2048),
    ],
    ids=["rsa-1024", "p-224", "dsa"],
)
def test_keys_that_are_weak(key: Any) -> None:
    """Are told what is possible."""
    assert "RSA (2048 to 8192 bits)" in refused(csr(key=key))


def test_a_signature_of_another_key() -> None:
    """Nobody gets a certificate for somebody else's key."""
    raw = bytearray(base64.b64decode("".join(csr().splitlines()[1:-1])))
    raw[-1] ^= 1
    lines = ["-----BEGIN CERTIFICATE REQUEST-----", base64.b64encode(raw).decode()]
    text = "\n".join([*lines, "-----END CERTIFICATE REQUEST-----", ""])
    assert "not signed by the key" in refused(text)


@pytest.mark.parametrize(
    "text",
    ["", "nonsense", AUTHORITY.certificate, AUTHORITY.private_key, "\N{SNOWMAN}", "\ud800"],
)
def test_what_is_no_request(text: str) -> None:
    """Says how one is made, and repeats nothing of what was sent."""
    message = refused(text)
    assert "openssl req -new" in message
    assert "BEGIN" not in message


def test_a_request_that_is_too_long() -> None:
    """Temporal keeps it for a while."""
    assert "32768" in refused("x" * 40_000)


def test_extensions_are_filtered() -> None:
    """Alternative names pass; unknown extensions and forbidden usages are left out."""
    names = x509.SubjectAlternativeName([x509.DNSName("node-1")])
    unknown = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4"), b"\x05\x00")
    wanted = usages("digital_signature", "data_encipherment", "key_cert_sign")
    client = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
    key = x509.SubjectKeyIdentifier(b"mine")
    certificate = signed(csr(names, unknown, wanted, client, key))
    assert extension(certificate, x509.SubjectAlternativeName) == names
    assert extension(certificate, x509.KeyUsage) == usages("digital_signature")
    assert extension(certificate, x509.ExtendedKeyUsage) == client
    assert extension(certificate, x509.SubjectKeyIdentifier).digest != b"mine"
    found = {one.oid.dotted_string for one in certificate.extensions}
    assert "1.2.3.4" not in found


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (x509.BasicConstraints(ca=True, path_length=None), "no other CA"),
        ((usages("digital_signature", "key_cert_sign"),), "insists on key usages"),
        (usages("key_cert_sign"), "insists on key usages"),
        (
            (x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4"), b"\x05\x00"),),
            "1.2.3.4",
        ),
    ],
    ids=["ca", "critical-usage", "usage-alone", "critical-extension"],
)
def test_what_cannot_be_left_out_is_refused(wish: Any, words: str) -> None:
    """As in Magnum: a critical wish is all or nothing, and a CA is never signed."""
    assert words in refused(csr(wish))


LIMITED = SigningRules(
    lifetime=timedelta(days=7),
    organisations=("viewers", "editors"),
    key_usages=("digital_signature",),
    extended_key_usages=("client_auth",),
)


def test_an_operator_s_limits() -> None:
    """Shorten what is signed, and give it the permitted usages alone."""
    subject = (("somebody", NameOID.COMMON_NAME), ("viewers", NameOID.ORGANIZATION_NAME))
    certificate = signed(csr(subject=subject), LIMITED)
    assert certificate.not_valid_after_utc <= datetime.now(UTC) + timedelta(days=7)
    assert extension(certificate, x509.KeyUsage) == usages("digital_signature")
    (usage,) = extension(certificate, x509.ExtendedKeyUsage)
    assert usage == ExtendedKeyUsageOID.CLIENT_AUTH
    server = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    assert "extended key usages" in refused(csr(server, subject=subject), LIMITED)


@pytest.mark.parametrize(
    ("subject", "kind", "words"),
    [
        (ADMIN, KIND, "'system:masters'"),
        (
            (("x", NameOID.ORGANIZATION_NAME), ("viewers", NameOID.ORGANIZATION_NAME)),
            KIND,
            "permitted: viewers, editors",
        ),
        ((("system:kube-scheduler", NameOID.COMMON_NAME),), KIND, "system:kube-scheduler"),
        ((("x", NameOID.COMMON_NAME),), CertificateKind.ETCD, "signs nothing|sign nothing"),
        ((("x", NameOID.COMMON_NAME),), CertificateKind.FRONT_PROXY, "front_proxy"),
    ],
    ids=["masters", "one-of-two", "system-name", "etcd", "front-proxy"],
)
def test_no_way_around_the_organisations(subject: Any, kind: CertificateKind, words: str) -> None:
    """Not by another authority, nor by the name of a component of Kubernetes."""
    message = refused(csr(subject=subject), LIMITED, kind)
    assert any(word in message for word in words.split("|"))


def test_an_authority_that_has_ended() -> None:
    """Signs nothing any more, and the message says what to do."""
    rules = SigningRules()
    with pytest.raises(ConflictError, match="Rotate it"):
        signing.sign(
            AUTHORITY,
            signing.check(csr(), KIND, rules),
            rules,
            ISSUER.not_valid_after_utc + timedelta(seconds=1),
        )


def test_settings_are_checked() -> None:
    """A usage that is unknown, or a CA's, stops the process at its start."""
    for wrong in ("key_cert_sign", "nonsense", ""):
        with pytest.raises(ValidationError, match="digital_signature"):
            Settings(certificate_key_usages=wrong)
    settings = Settings(certificate_organisations="a, b", certificate_days=3)
    rules = SigningRules.of(settings)
    assert (rules.organisations, rules.lifetime) == (("a", "b"), timedelta(days=3))


@given(position=some.integers(0, 10_000), byte=some.integers(0, 255), cut=some.integers(0, 10_000))
def test_damaged_requests(position: int, byte: int, cut: int) -> None:
    """Whatever arrives is signed for the very key that has signed it, or refused."""
    names = x509.SubjectAlternativeName([x509.DNSName("a"), x509.RFC822Name("a@b")])
    raw = bytearray(base64.b64decode("".join(csr(names).splitlines()[1:-1])))
    raw[position % len(raw)] = byte
    del raw[len(raw) - cut % 3 :]
    lines = ["-----BEGIN CERTIFICATE REQUEST-----", base64.b64encode(raw).decode()]
    text = "\n".join([*lines, "-----END CERTIFICATE REQUEST-----", ""])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            request = signing.check(text, KIND, SigningRules())
        except InvalidRequestError:
            return
        assert request.is_signature_valid
        assert signing.sign(AUTHORITY, request, SigningRules())


@given(
    wanted=some.sets(some.sampled_from([*KEY_USAGES, "key_cert_sign", "crl_sign"]), min_size=1),
    permitted=some.sets(some.sampled_from(KEY_USAGES), min_size=1),
    critical=some.booleans(),
)
def test_no_certificate_may_do_more_than_is_permitted(
    wanted: set[str], permitted: set[str], critical: bool
) -> None:
    """For all wishes and rules."""
    rules = SigningRules(key_usages=tuple(permitted))
    wish: Any = (usages(*wanted),) if critical else usages(*wanted)
    try:
        certificate = signed(csr(wish), rules)
    except InvalidRequestError:
        assert not wanted & permitted or (critical and wanted - permitted)
        return
    found = extension(certificate, x509.KeyUsage)
    granted = {name for name in NOTHING if name not in {"encipher_only", "decipher_only"}}
    granted = {name for name in granted if getattr(found, name)}
    assert granted == wanted & permitted
