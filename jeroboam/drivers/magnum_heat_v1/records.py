"""What Heat says of a stack, and which servers are in it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jeroboam.drivers.heat.failures import stack_of
from jeroboam.drivers.heat.phases import StackState
from jeroboam.drivers.heat.submission import present

HIDDEN = "******"
"""Heat's answer for a parameter that nobody may read."""

_SERVER = "OS::Nova::Server"
_DEEPEST = 8
_TRUE = frozenset({"true", "1", "yes", "on", "t", "y"})


@dataclass(frozen=True)
class Member:
    """One server of a stack.

    Args:
        group: Name of the resource group in the outermost stack.
        index: Its name in the group, most often a number.
        server: Nova's id.
    """

    group: str
    index: str
    server: str


@dataclass(frozen=True)
class StackRecord:
    """One stack as far as a cluster is recognised by it.

    Args:
        parameters: Those that may be read.
        defaults: What its template says where nothing is given.
        created: Heat's time of its creation.
    """

    state: StackState
    parameters: Mapping[str, str]
    outputs: Mapping[str, Any]
    members: Sequence[Member] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)
    created: str | None = None
    parent: str | None = None
    project: str | None = None

    @classmethod
    def of(
        cls,
        shown: Mapping[str, Any],
        resources: Sequence[Mapping[str, Any]] = (),
        template: Mapping[str, Any] | None = None,
    ) -> "StackRecord":
        """Read what Heat shows.

        Args:
            shown: The stack.
            resources: Those of the stack and of all that are nested in it.
            template: The stack's own.
        """
        state = StackState.of(shown)
        declared: Mapping[str, Any] = (template or {}).get("parameters") or {}
        return cls(
            state=state,
            parameters={
                name: str(value)
                for name, value in state.parameters.items()
                if value is not None and value != HIDDEN
            },
            outputs={
                one["output_key"]: one.get("output_value") for one in shown.get("outputs") or ()
            },
            members=tuple(members(state.id, resources)),
            defaults={
                name: str(one["default"])
                for name, one in declared.items()
                if isinstance(one, Mapping) and "default" in one
            },
            created=shown.get("creation_time"),
            parent=shown.get("parent"),
            project=shown.get("project"),
        )

    def text(self, *names: str) -> str | None:
        """Return the first of these parameters that says something."""
        found = (self.parameters.get(name, "").strip() for name in names)
        return next((value for value in found if value and value != "None"), None)

    def number(self, name: str) -> int | None:
        """Return a parameter that is a whole number, if it is one."""
        text = self.text(name) or ""
        return int(text) if text.isascii() and text.isdigit() else None

    def flag(self, name: str) -> bool:
        """Return a parameter that is a truth value."""
        return (self.text(name) or "").lower() in _TRUE

    def addresses(self, choices: Iterable[Sequence[str]]) -> tuple[str, ...]:
        """Return the addresses of the first choice of outputs that has some."""
        for names in choices:
            listed = [_listed(self.outputs.get(name)) for name in names]
            if found := tuple(one for part in listed for one in part):
                return found
        return ()

    def of_groups(self, names: Iterable[str]) -> tuple[Member, ...]:
        """Return the members of some resource groups."""
        wanted = set(names)
        return tuple(one for one in self.members if one.group in wanted)


def members(root: str, resources: Sequence[Mapping[str, Any]]) -> Iterable[Member]:
    """Yield the servers below a stack with their places.

    Args:
        root: Id of the outermost stack.
        resources: Of all stacks.
    """
    there = [one for one in resources if present(one)]
    owners = {str(one.get("physical_resource_id")): one for one in there}
    for record in there:
        server = record.get("physical_resource_id")
        if record.get("resource_type") != _SERVER or not server:
            continue
        path = _path(root, record, owners)
        yield Member(group=path[0], index=path[1] if len(path) > 1 else path[0], server=str(server))


def _path(root: str, record: Mapping[str, Any], owners: Mapping[str, Any]) -> list[str]:
    """Return the names of the resources from the outermost one down to the record."""
    names = [str(record.get("resource_name"))]
    holder = stack_of(record)
    while holder != root and holder in owners and len(names) < _DEEPEST:
        record = owners[holder]
        names.append(str(record.get("resource_name")))
        holder = stack_of(record)
    return names[::-1]


def _listed(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value] if value else []
    return [str(one) for one in value or () if one]
