"""The sets of authorities that a cluster has while they are rotated."""

from collections.abc import Mapping
from datetime import timedelta

import pytest
from cryptography import x509
from hypothesis import given
from hypothesis import strategies as some

from jeroboam import certificate_sets
from jeroboam.certificates import (
    from_mapping,
    issue_client_certificate,
    issue_cluster_secrets,
    to_mapping,
)
from jeroboam.drivers.kubernetes.kubeadm import public_key
from jeroboam.models.certificate import CertificateKind, CertificateState, bundle
from tests.unit.specs import make_spec

OLD, NEW = issue_cluster_secrets("alpha"), issue_cluster_secrets("alpha")
CLUSTER = make_spec().cluster.uuid

Values = Mapping[str, str]


def staged(values: Values, rotation: str = "one", *, keys: bool = False) -> Values:
    return certificate_sets.stage(values, rotation, NEW, service_account_key=keys)


def signing(values: Values) -> str:
    return from_mapping(values).kubernetes.certificate


def states(values: Values) -> set[CertificateState]:
    return {one.state for one in certificate_sets.published(CLUSTER, values)}


def test_a_rotation_from_end_to_end() -> None:
    """Both are trusted from the first step to the last, and one of them signs."""
    values = staged(to_mapping(OLD))
    assert signing(values) == OLD.kubernetes.certificate
    assert from_mapping(values).kubernetes.also_trusted == (NEW.kubernetes.certificate,)
    values = certificate_sets.promote(values)
    assert signing(values) == NEW.kubernetes.certificate
    for name in ("kubernetes", "etcd", "front_proxy"):
        authority = getattr(from_mapping(values), name)
        assert authority.private_key == getattr(NEW, name).private_key
        assert authority.trusted == getattr(NEW, name).certificate + getattr(OLD, name).certificate
    values = certificate_sets.drop(values)
    assert from_mapping(values).kubernetes == NEW.kubernetes
    assert from_mapping(values).bootstrap_token == OLD.bootstrap_token
    assert staged(values) == values, "a repeated step of a rotation that is over"


def test_a_rotation_goes_back() -> None:
    """After the promotion too, and what is left are the old secrets."""
    values = certificate_sets.demote(certificate_sets.promote(staged(to_mapping(OLD))))
    assert signing(values) == OLD.kubernetes.certificate
    assert states(values) == {CertificateState.CURRENT, CertificateState.NEXT}
    assert from_mapping(certificate_sets.drop(values)) == OLD


STEPS = {
    "stage": staged,
    "stage by another one": lambda values: staged(values, "two"),
    "promote": certificate_sets.promote,
    "demote": certificate_sets.demote,
    "drop": certificate_sets.drop,
}


@given(some.lists(some.sampled_from(sorted(STEPS)), max_size=8))
def test_steps_may_come_twice_and_in_any_order(names: list[str]) -> None:
    """There is always a whole set that signs, at most one beside it, and a step twice is once."""
    values = to_mapping(OLD)
    for name in names:
        values = STEPS[name](values)
        assert STEPS[name](values) == values
        current = from_mapping(values)
        assert len(current.kubernetes.also_trusted) <= 1
        sets = {"kubernetes", "etcd", "front_proxy"}
        assert len(certificate_sets.published(CLUSTER, values)) == 3 * len(states(values))
        assert all(getattr(current, kind).private_key for kind in sets)


def test_a_rotation_completes_one_that_stopped() -> None:
    """No third set appears whose certificates no node knows."""
    stopped = certificate_sets.promote(staged(to_mapping(OLD)))
    again = certificate_sets.stage(stopped, "two", issue_cluster_secrets("alpha"))
    assert certificate_sets.drop(certificate_sets.promote(again)) == {
        **certificate_sets.drop(stopped),
        "rotation": "two",
    }


def test_service_accounts_keep_their_key_unless_it_is_rotated() -> None:
    """Tokens that the old key has signed are good until it is dropped."""
    kept = from_mapping(staged(to_mapping(OLD)))
    assert (kept.service_account_key, kept.also_accepted_keys) == (OLD.service_account_key, ())
    values = certificate_sets.promote(staged(to_mapping(OLD), keys=True))
    rotated = from_mapping(values)
    assert rotated.service_account_key == NEW.service_account_key
    assert rotated.also_accepted_keys == (OLD.service_account_key,)
    assert public_key(OLD.service_account_key) != public_key(NEW.service_account_key)


def test_what_is_published() -> None:
    """Certificates with their times and kinds, and never a key."""
    values = staged(to_mapping(OLD))
    found = certificate_sets.published(CLUSTER, values)
    assert not any("PRIVATE" in one.model_dump_json() for one in found)
    first = found[0]
    certificate = x509.load_pem_x509_certificate(OLD.kubernetes.certificate.encode())
    assert (first.kind, first.state) == (CertificateKind.KUBERNETES, CertificateState.CURRENT)
    assert int(first.serial, 16) == certificate.serial_number
    assert first.not_after == certificate.not_valid_after_utc
    assert bundle(found, CertificateKind.ETCD) == OLD.etcd.certificate + NEW.etcd.certificate


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (None, CertificateKind.KUBERNETES),
        ("etcd", CertificateKind.ETCD),
        ("front_proxy", CertificateKind.FRONT_PROXY),
        ("front-proxy", CertificateKind.FRONT_PROXY),
        ("nonsense", CertificateKind.KUBERNETES),
    ],
)
def test_kinds_as_magnum_reads_them(name: str | None, kind: CertificateKind) -> None:
    """An unknown one is no error there."""
    assert CertificateKind.named(name) is kind


def test_issuers_of_one_name_are_told_apart() -> None:
    """By the identifier of the key; a client has both in its bundle."""
    issued = issue_client_certificate(NEW.kubernetes, "somebody", timedelta(hours=1))
    leaf = x509.load_pem_x509_certificate(issued.certificate.encode())
    identifier = leaf.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value
    for authority, same in ((NEW.kubernetes, True), (OLD.kubernetes, False)):
        issuer = x509.load_pem_x509_certificate(authority.certificate.encode())
        own = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
        assert (own.digest == identifier.key_identifier) is same
