"""The roles of programs in clusters."""

import pytest

from jeroboam import accounts
from jeroboam.errors import NotAuthorizedError


def test_programs_get_the_narrow_roles_of_their_owner() -> None:
    owner = {"admin", "member", "reader", "creator", "heat_stack_owner"}
    assert accounts.program_roles(owner) == {"member", "reader"}


@pytest.mark.parametrize("roles", [(), ("admin",), ("heat_stack_owner", "creator")])
def test_programs_get_no_other_role(roles: tuple[str, ...]) -> None:
    with pytest.raises(NotAuthorizedError, match="role member"):
        accounts.program_roles(roles)
