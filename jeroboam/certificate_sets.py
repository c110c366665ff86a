"""The certificate authorities of a cluster while they are being rotated; pure.

A cluster has one current set, which signs. A rotation adds a second one::

                  stage            promote              retire               drop
    current  ->  current, next  ->  previous, current  ->  retired, current  ->  current
                                    demote, reinstate: back to the state before

For the last round of a rotation the former set is retired: nodes must not trust it any more, and a
roll-back still has to find it.

Each function takes the stored secrets and returns them as they shall be stored. Doing it twice is
doing it once, so that activities may be repeated.
"""

from collections.abc import Sequence

from cryptography import x509

from jeroboam.certificates import AUTHORITIES, to_mapping
from jeroboam.drivers.base import ClusterSecrets
from jeroboam.models.certificate import CertificateKind, CertificateState, ClusterCertificate
from jeroboam.stored_values import Values, renamed, without

NEXT = "next_"
PREVIOUS = "previous_"
RETIRED = "retired_"

_ROTATION = "rotation"
_SERVICE_ACCOUNT_KEY = "service_account_key"
_NAMES = (
    *(f"{name}_{half}" for name in AUTHORITIES for half in ("certificate", "private_key")),
    _SERVICE_ACCOUNT_KEY,
)
_PREFIXES = {
    CertificateState.CURRENT: "",
    CertificateState.NEXT: NEXT,
    CertificateState.PREVIOUS: PREVIOUS,
}


def stage(
    values: Values, rotation: str, fresh: ClusterSecrets, *, service_account_key: bool = False
) -> Values:
    """Add a next set, to be trusted beside the current one.

    Where two sets are there already, an earlier rotation stopped half-way; this one completes it
    in place of adding a third set.

    Args:
        rotation: Identifies the rotation; after its end, nothing is staged for it any more.
        fresh: The set to add; its bootstrap token is not used.
        service_account_key: Whether the key that signs service accounts' tokens is rotated, too.
            Tokens that the old one has signed stop working when the old set is dropped.
    """
    if values.get(_ROTATION) == rotation:
        return values
    if _has(values, NEXT) or _has(values, PREVIOUS):
        return {**values, _ROTATION: rotation}
    added = dict(to_mapping(fresh))
    if not service_account_key:
        added[_SERVICE_ACCOUNT_KEY] = values[_SERVICE_ACCOUNT_KEY]
    return {**values, **{f"{NEXT}{name}": added[name] for name in _NAMES}, _ROTATION: rotation}


def promote(values: Values) -> Values:
    """Let the next set sign; the one that signed so far stays trusted."""
    return _exchanged(values, NEXT, PREVIOUS)


def demote(values: Values) -> Values:
    """Let the previous set sign again; the one that took its place stays trusted."""
    return _exchanged(values, PREVIOUS, NEXT)


def retire(values: Values) -> Values:
    """Set the previous set aside: it is kept and not trusted."""
    return renamed(values, PREVIOUS, RETIRED)


def reinstate(values: Values) -> Values:
    """Trust the set again that was set aside."""
    return renamed(values, RETIRED, PREVIOUS)


def drop(values: Values) -> Values:
    """Keep the set that signs, and no other."""
    return without(values, NEXT, PREVIOUS, RETIRED)


def published(cluster_id: str, values: Values) -> Sequence[ClusterCertificate]:
    """Return the public halves of all sets."""
    return [
        _published(cluster_id, kind, state, values[name])
        for state, prefix in _PREFIXES.items()
        for kind in CertificateKind
        if (name := f"{prefix}{kind}_certificate") in values
    ]


def _published(
    cluster_id: str, kind: CertificateKind, state: CertificateState, pem: str
) -> ClusterCertificate:
    certificate = x509.load_pem_x509_certificate(pem.encode())
    return ClusterCertificate(
        cluster_id=cluster_id,
        kind=kind,
        state=state,
        pem=pem,
        serial=f"{certificate.serial_number:x}",
        not_before=certificate.not_valid_before_utc,
        not_after=certificate.not_valid_after_utc,
    )


def _has(values: Values, prefix: str) -> bool:
    return f"{prefix}{_NAMES[0]}" in values


def _exchanged(values: Values, rising: str, falling: str) -> Values:
    """Make the set ``rising`` the current one, and the current one the set ``falling``."""
    if not _has(values, rising):
        return values
    moved = {name: text for name, text in values.items() if not name.startswith(rising)}
    for name in _NAMES:
        moved[f"{falling}{name}"] = values[name]
        moved[name] = values[f"{rising}{name}"]
    return moved
