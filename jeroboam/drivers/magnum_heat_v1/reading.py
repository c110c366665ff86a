"""Reads Magnum's stacks from Heat and their servers from Nova; changes nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from jeroboam.drivers.heat.stacks import Stacks
from jeroboam.drivers.magnum_heat_v1.records import Member, StackRecord
from jeroboam.models import Node

_FLOATING = "floating"


def read(stacks: Stacks, ident: str, *, whole: bool = False) -> StackRecord:
    """Return a stack with its servers.

    Args:
        ident: Its id or name.
        whole: Whether the defaults of its template are read as well.

    Raises:
        NotFoundError: It is not there.
    """
    shown = stacks.shown(ident)
    stack = str(shown["id"])
    template = stacks.template(stack)[0] if whole else None
    return StackRecord.of(shown, stacks.resources(stack), template)


def nodes(members: Sequence[Member], servers: Mapping[str, Any], version: str | None) -> list[Node]:
    """Return the nodes of a group in the order of their indexes.

    Args:
        servers: Nova's, by their ids.
        version: That of the COE which they were set up with.
    """
    ordered = sorted(members, key=lambda one: (one.group, len(one.index), one.index))
    return [_node(one, servers.get(one.server), version) for one in ordered]


def _node(member: Member, server: Any, version: str | None) -> Node:
    if server is None:
        name = f"{member.group}-{member.index}-{member.server[:8]}"
        return Node(name=name, id=member.server, status="DELETED", version=version)
    return Node(
        name=str(server.name),
        id=member.server,
        status=str(server.status),
        addresses=_addresses(server),
        version=version,
    )


def _addresses(server: Any) -> tuple[str, ...]:
    """Return all addresses, floating ones first."""
    listed = [one for port in (server.addresses or {}).values() for one in port]
    listed.sort(key=lambda one: one.get("OS-EXT-IPS:type") != _FLOATING)
    return tuple(str(one["addr"]) for one in listed)
