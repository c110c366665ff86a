"""What a cluster's authorities sign for its users; pure.

By default all that Magnum signs: the subject is the request's own, and extensions pass an
allow-list (Magnum's ``[x509]`` options ``allowed_extensions``, ``allowed_key_usage``,
``term_of_validity``). Whoever may ask for a signature can so become ``system:masters``, the
administrators of Kubernetes. ``SigningRules`` narrow that.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID

from jeroboam.certificates import BACKDATED, authority_key_identifier, signer_of
from jeroboam.drivers.base import CertificateAuthority
from jeroboam.errors import ConflictError, InvalidRequestError
from jeroboam.models.certificate import EXTENDED_KEY_USAGES, KEY_USAGES, CertificateKind
from jeroboam.settings import Settings

MOST_CHARACTERS = 32_768
SMALLEST_RSA_BITS = 2048
LARGEST_RSA_BITS = 8192
_CURVES = (ec.SECP256R1, ec.SECP384R1, ec.SECP521R1)
_BROKEN_HASHES = (hashes.MD5, hashes.SHA1)


@dataclass(frozen=True)
class SigningRules:
    """What an operator permits.

    Args:
        lifetime: The longest; no certificate outlives its authority.
        organisations: The groups that a subject may name; empty permits all. With some named, only
            the authority ``kubernetes`` signs, and for no name that begins with ``system:``: the
            other authorities' certificates open all doors whatever their subject.
        key_usages: Names of ``x509.KeyUsage``'s attributes.
        extended_key_usages: Names as in ``settings.EXTENDED_KEY_USAGES``; empty permits all.
    """

    lifetime: timedelta = timedelta(days=5 * 365)
    organisations: tuple[str, ...] = ()
    key_usages: tuple[str, ...] = ("digital_signature", "key_encipherment", "content_commitment")
    extended_key_usages: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: Settings) -> "SigningRules":
        """Return the rules that the settings make."""
        return cls(
            lifetime=timedelta(days=settings.certificate_days),
            organisations=settings.certificate_organisations,
            key_usages=settings.certificate_key_usages,
            extended_key_usages=settings.certificate_extended_key_usages,
        )


def check(text: str, kind: CertificateKind, rules: SigningRules) -> x509.CertificateSigningRequest:
    """Return a request that may be signed.

    Args:
        text: The request, PEM-encoded.
        kind: Which authority shall sign.

    Raises:
        InvalidRequestError: It is no request, its key is weak or not its own, or the rules forbid
            what it wants.
    """
    if len(text) > MOST_CHARACTERS:
        raise InvalidRequestError(f"The csr has more than {MOST_CHARACTERS} characters.")
    try:
        request = x509.load_pem_x509_csr(text.encode())
        _check_key(request)
        _check_subject(request.subject, kind, rules)
        list(_extensions(request, rules))
    except (
        ValueError,
        TypeError,
        UnsupportedAlgorithm,
        x509.DuplicateExtension,
        x509.UnsupportedGeneralNameType,
    ) as error:
        raise InvalidRequestError(
            f"The csr is no certificate request in PEM ({type(error).__name__}). Make one with "
            "`openssl req -new -key KEY -subj /CN=NAME`."
        ) from None
    return request


def sign(
    authority: CertificateAuthority,
    request: x509.CertificateSigningRequest,
    rules: SigningRules,
    now: datetime | None = None,
) -> str:
    """Return the certificate that a request asks for, PEM-encoded.

    Args:
        request: From ``check``.

    Raises:
        ConflictError: The authority has ended.
    """
    now = now or datetime.now(UTC)
    issuer = x509.load_pem_x509_certificate(authority.certificate.encode())
    if issuer.not_valid_after_utc <= now:
        raise ConflictError(
            f"The cluster's CA has ended on {issuer.not_valid_after_utc:%Y-%m-%d}. Rotate it "
            "(`openstack coe ca rotate`)."
        )
    identifier = x509.SubjectKeyIdentifier.from_public_key(request.public_key())
    builder = (
        x509.CertificateBuilder()
        .subject_name(request.subject)
        .issuer_name(issuer.subject)
        .public_key(request.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(max(now - BACKDATED, issuer.not_valid_before_utc))
        .not_valid_after(min(now + rules.lifetime, issuer.not_valid_after_utc))
        .add_extension(identifier, critical=False)
        .add_extension(authority_key_identifier(issuer), critical=False)
    )
    for value, critical in _extensions(request, rules):
        builder = builder.add_extension(value, critical)
    certificate = builder.sign(signer_of(authority), hashes.SHA256())
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _check_key(request: x509.CertificateSigningRequest) -> None:
    key = request.public_key()
    if isinstance(key, rsa.RSAPublicKey):
        good = SMALLEST_RSA_BITS <= key.key_size <= LARGEST_RSA_BITS
    elif isinstance(key, ec.EllipticCurvePublicKey):
        good = isinstance(key.curve, _CURVES)
    else:
        good = isinstance(key, ed25519.Ed25519PublicKey)
    if not good:
        raise InvalidRequestError(
            f"The key of the csr is none of RSA ({SMALLEST_RSA_BITS} to {LARGEST_RSA_BITS} bits), "
            "EC (P-256, P-384, P-521) and Ed25519."
        )
    if isinstance(request.signature_hash_algorithm, _BROKEN_HASHES):
        raise InvalidRequestError("The csr is signed with MD5 or SHA-1. Use SHA-256.")
    if not request.is_signature_valid:
        raise InvalidRequestError("The csr is not signed by the key that it names.")


def _check_subject(subject: x509.Name, kind: CertificateKind, rules: SigningRules) -> None:
    if not rules.organisations:
        return
    permitted = ", ".join(rules.organisations)
    if kind is not CertificateKind.KUBERNETES:
        raise InvalidRequestError(
            f"The operator has the CA '{kind}' sign nothing for users; use 'kubernetes'."
        )
    for attribute in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME):
        if attribute.value not in rules.organisations:
            raise InvalidRequestError(
                f"The operator permits no csr with the organisation '{_shown(attribute)}'; "
                f"permitted: {permitted}."
            )
    for attribute in subject.get_attributes_for_oid(NameOID.COMMON_NAME):
        if str(attribute.value).startswith("system:"):
            raise InvalidRequestError(
                f"The operator permits no csr with the name '{_shown(attribute)}'."
            )


def _shown(attribute: x509.NameAttribute[str | bytes]) -> str:
    return str(attribute.value)[:64]


def _extensions(
    request: x509.CertificateSigningRequest, rules: SigningRules
) -> Iterator[tuple[x509.ExtensionType, bool]]:
    """Yield what the certificate gets beside the identifiers of keys."""
    wanted = {type(one.value): one for one in request.extensions}
    _check_constraints(wanted.pop(x509.BasicConstraints, None))
    yield x509.BasicConstraints(ca=False, path_length=None), True
    yield _key_usage(wanted.pop(x509.KeyUsage, None), rules)
    yield from _extended_key_usage(wanted.pop(x509.ExtendedKeyUsage, None), rules)
    if names := wanted.pop(x509.SubjectAlternativeName, None):
        yield names.value, names.critical
    wanted.pop(x509.SubjectKeyIdentifier, None)
    for other in wanted.values():
        if other.critical:
            raise InvalidRequestError(
                f"The csr insists on the extension {other.oid.dotted_string}, which is not signed."
            )


def _check_constraints(wanted: x509.Extension[x509.BasicConstraints] | None) -> None:
    if wanted and wanted.value.ca:
        raise InvalidRequestError("The csr is one of a CA; the cluster's CAs sign no other CA.")


def _key_usage(
    wanted: x509.Extension[x509.KeyUsage] | None, rules: SigningRules
) -> tuple[x509.KeyUsage, bool]:
    """Return what of the wanted usages is permitted; without a wish, all that is.

    As in Magnum, a request that marks its usages as critical gets all of them, or nothing.
    """
    named = {name for name in _NAMED if getattr(wanted.value, name)} if wanted else set()
    usages = named & set(rules.key_usages) if wanted else set(rules.key_usages)
    if wanted and ((wanted.critical and usages != named) or not usages):
        raise InvalidRequestError(
            f"The csr insists on key usages of which only these are signed: "
            f"{', '.join(rules.key_usages)}."
        )
    permitted = {name: name in usages for name in _NAMED}
    return x509.KeyUsage(**permitted, encipher_only=False, decipher_only=False), True


_NAMED = (*KEY_USAGES, "key_cert_sign", "crl_sign")


def _extended_key_usage(
    wanted: x509.Extension[x509.ExtendedKeyUsage] | None, rules: SigningRules
) -> Iterator[tuple[x509.ExtendedKeyUsage, bool]]:
    if not rules.extended_key_usages:
        if wanted:
            yield wanted.value, wanted.critical
        return
    permitted = [x509.ObjectIdentifier(EXTENDED_KEY_USAGES[n]) for n in rules.extended_key_usages]
    usages = [one for one in wanted.value if one in permitted] if wanted else permitted
    if wanted and ((wanted.critical and usages != list(wanted.value)) or not usages):
        raise InvalidRequestError(
            f"The csr insists on extended key usages of which only these are signed: "
            f"{', '.join(rules.extended_key_usages)}."
        )
    yield x509.ExtendedKeyUsage(usages), bool(wanted and wanted.critical)
