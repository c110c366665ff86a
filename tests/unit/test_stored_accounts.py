"""The account of programs in a cluster, among its stored secrets."""

from collections.abc import Callable, Mapping
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam import certificates, stored_accounts
from jeroboam.drivers.base import CloudAccount

Values = Mapping[str, str]

OTHERS = {"kubernetes_private_key": "a key", "bootstrap_token": "a token"}


def account(name: str) -> CloudAccount:
    return CloudAccount("http://keystone/v3", f"id of {name}", f"secret of {name}", f"by {name}")


def made(values: Values, name: str) -> Values:
    staged = stored_accounts.staged(values, name, f"secret of {name}")
    return stored_accounts.completed(staged, account(name))


def test_an_account_is_read_when_it_is_complete() -> None:
    staged = stored_accounts.staged(OTHERS, "first", "secret of first")
    assert stored_accounts.current(staged) is None
    assert stored_accounts.current_name(staged) == "first"
    complete = stored_accounts.completed(staged, account("first"))
    assert stored_accounts.current(complete) == account("first")


def test_a_driver_gets_it_with_the_other_secrets() -> None:
    secrets = certificates.to_mapping(certificates.issue_cluster_secrets("one"))
    assert certificates.from_mapping(secrets).account is None
    assert certificates.from_mapping(made(secrets, "first")).account == account("first")


def test_nobody_sees_the_password() -> None:
    assert "secret" not in repr(account("first"))


def test_a_second_attempt_uses_the_first_ones_password() -> None:
    first = stored_accounts.staged(OTHERS, "first", "one")
    assert stored_accounts.password_of(stored_accounts.staged(first, "first", "other")) == "one"


def test_a_late_attempt_does_not_complete_another_account() -> None:
    """Its rotation was led back meanwhile, or another one has begun."""
    values = stored_accounts.staged(made(OTHERS, "first"), "second", "secret of second")
    assert stored_accounts.completed(values, account("first")) == values


def test_a_rotation_leaves_one_account() -> None:
    rotated = stored_accounts.settled(made(made(OTHERS, "first"), "second"))
    assert rotated == made(OTHERS, "second")


def test_a_rotation_is_led_back() -> None:
    before = made(OTHERS, "first")
    assert stored_accounts.reinstated(made(before, "second"), "second") == before
    halfway = stored_accounts.staged(before, "second", "secret")
    assert stored_accounts.reinstated(halfway, "second") == before


def test_the_first_account_is_led_back_to_none() -> None:
    assert stored_accounts.reinstated(made(OTHERS, "first"), "first") == OTHERS


_CHANGES: tuple[Callable[[Values], Values], ...] = (
    partial(stored_accounts.staged, name="next", password="of next"),
    partial(stored_accounts.reinstated, name="next"),
    stored_accounts.settled,
    partial(stored_accounts.completed, account=account("next")),
)


@given(st.lists(st.sampled_from(_CHANGES), max_size=8), st.sampled_from(_CHANGES))
def test_twice_is_once(
    before: list[Callable[[Values], Values]], change: Callable[[Values], Values]
) -> None:
    """And nothing else among the secrets is touched."""
    values = made(OTHERS, "first")
    for one in before:
        values = one(values)
    once = change(values)
    assert change(once) == once
    assert once.items() >= OTHERS.items()


@pytest.mark.parametrize("region", [None, "RegionOne"])
@pytest.mark.parametrize("load_balancers", [True, False])
def test_what_the_cloud_has_is_kept(region: str | None, *, load_balancers: bool) -> None:
    wanted = CloudAccount("http://keystone/v3", "id", "secret", "trust", region, load_balancers)
    staged = stored_accounts.staged(OTHERS, "first", "secret")
    assert stored_accounts.current(stored_accounts.completed(staged, wanted)) == wanted
