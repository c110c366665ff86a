"""The account of programs in a cluster, among the cluster's stored secrets; pure.

A cluster has one account at most. A rotation puts another one in its place and keeps the former one
until the cluster uses the new one::

                staged, completed             settled
    current  ->  former, current  ->  current
                 reinstated: back to the state before

Each function takes the stored secrets and returns them as they shall be stored. Doing it twice is
doing it once, so that activities may be repeated. The password is stored before Keystone hears of
it: of two attempts of one step, both use the one that is stored.
"""

from jeroboam.drivers.context import CloudAccount
from jeroboam.stored_values import Values, renamed, without

_ACCOUNT = "account_"
_FORMER = "former_account_"
_NAME = "account_name"
_PASSWORD = "account_password"  # noqa: S105 - a name, no secret
_FIELDS = ("auth_url", "user_id", "trust_id")
_REGION = "account_region"
_NO_LOAD_BALANCERS = "account_without_load_balancers"


def staged(values: Values, name: str, password: str) -> Values:
    """Put a new account in the place of the current one, of which Keystone does not know yet.

    Args:
        name: Of the new user; if it is the current account's, nothing changes.
        password: Of the new user.
    """
    if values.get(_NAME) == name:
        return values
    kept = renamed(settled(values), _ACCOUNT, _FORMER)
    return {**kept, _NAME: name, _PASSWORD: password}


def completed(values: Values, account: CloudAccount) -> Values:
    """Add what Keystone said of the current account, unless another one is the current one now."""
    if values.get(_PASSWORD) != account.password:
        return values
    told = {f"{_ACCOUNT}{field}": getattr(account, field) for field in _FIELDS}
    if account.region:
        told[_REGION] = account.region
    if not account.load_balancers:
        told[_NO_LOAD_BALANCERS] = "true"
    return {**values, **told}


def reinstated(values: Values, name: str) -> Values:
    """Make the former account the current one again.

    Args:
        name: Of the user that shall not be the current one.
    """
    if values.get(_NAME) != name:
        return values
    return renamed(without(values, _ACCOUNT), _FORMER, _ACCOUNT)


def settled(values: Values) -> Values:
    """Keep the current account and no other."""
    return without(values, _FORMER)


def current(values: Values) -> CloudAccount | None:
    """Return the current account; ``None`` if there is none, or Keystone has not made it yet."""
    if f"{_ACCOUNT}{_FIELDS[-1]}" not in values:
        return None
    return CloudAccount(
        **{field: values[f"{_ACCOUNT}{field}"] for field in _FIELDS},
        password=values[_PASSWORD],
        region=values.get(_REGION),
        load_balancers=_NO_LOAD_BALANCERS not in values,
    )


def current_name(values: Values) -> str | None:
    """Return the name of the current account's user."""
    return values.get(_NAME)


def password_of(values: Values) -> str:
    """Return the password of the current account."""
    return values[_PASSWORD]
