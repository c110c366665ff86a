"""Changes of stacks that can be asked for again and again.

With each change the stack gets the idempotency key of the call as a tag, in the same request. So
the stack itself tells whether a call has arrived, and a repeated one does nothing, unless Heat
failed or broke off: then Heat goes on, and what did not become ready is made anew.

Heat takes a change in any state but a deletion. One that it is still working at gives way: what
is being made is finished or stopped, and then changed like the rest.
"""

from collections.abc import Mapping
from typing import Any

import structlog

from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.heat.failures import stack_of
from jeroboam.drivers.heat.phases import StackState
from jeroboam.drivers.heat.placement import Placement
from jeroboam.drivers.heat.renewal import Renewal
from jeroboam.drivers.heat.stacks import Stacks
from jeroboam.errors import ConflictError, InvalidRequestError, NotFoundError

CONDITION = "OS::Heat::WaitCondition"
HANDLE = "OS::Heat::WaitConditionHandle"

log = structlog.get_logger(__name__)


def find(stacks: Stacks, place: Placement) -> StackState | None:
    """Return the stack by its stored id or, if that was never stored, by its name."""
    found = stacks.find(place.stack_id) if place.stack_id else None
    return found or stacks.find(place.name)


def required(stacks: Stacks, place: Placement) -> StackState:
    """Return the stack.

    Raises:
        NotFoundError: It is not there.
    """
    found = find(stacks, place)
    if found is None:
        what = "The node group" if place.group else f"Cluster {place.cluster.name}"
        raise NotFoundError(f"{what} has no stack ({place.name}). Delete it and create it anew.")
    return found


def settled(stacks: Stacks, stack: StackState, idempotency_key: str) -> bool:
    """Whether the call has arrived and Heat is at work on it, or done."""
    return stack.submitted(idempotency_key) and not stack.failed and not stacks.broken_off(stack)


def change(
    context: DriverContext,
    stacks: Stacks,
    place: Placement,
    stack: StackState,
    values: Mapping[str, Any],
    timeout_minutes: int,
    renewal: Renewal | None = None,
) -> None:
    """Submit other values for some of a stack's parameters; all others stay as they are.

    Args:
        renewal: Another template, if the stack gets one.

    Raises:
        ConflictError: The stack is being deleted.
        InvalidRequestError: The stack was built by a version of the driver that lacks them.
    """
    if stack.status.startswith("DELETE_"):
        raise ConflictError(f"Stack {stack.name} is being deleted and cannot be changed.")
    parameters = place.parameters(values)
    known = renewal.template.get("parameters", {}) if renewal else stack.parameters
    if missing := [name for name in parameters if name not in known]:
        raise InvalidRequestError(
            f"Stack {stack.name} was built by an earlier version of the driver, which does not "
            f"know {', '.join(missing)}. Build a new cluster to get this operation."
        )
    if stack.failed:
        give_new_chances(stacks, stack)
    stacks.update(
        stack.id,
        existing=True,
        **(renewal.request(parameters) if renewal else {"parameters": parameters}),
        tags=place.tags(context.idempotency_key),
        timeout_mins=timeout_minutes,
        disable_rollback=True,
    )
    log.info("stack_change_submitted", stack=stack.name, parameters=sorted(parameters))


def give_new_chances(stacks: Stacks, stack: StackState) -> None:
    """Have the nodes set up anew that did not become ready.

    A node reports once. The condition that waited for it in vain would meet the same silence, or
    the same bad news, again; with a new handle the server is made anew as well.
    """
    records = [one for one in stacks.resources(stack.id) if present(one)]
    failed = {
        (stack_of(one), str(one.get("resource_name")))
        for one in records
        if one.get("resource_type") == CONDITION
        and str(one.get("resource_status")).endswith("FAILED")
    }
    for handle in records:
        if handle.get("resource_type") != HANDLE:
            continue
        holder = stack_of(handle)
        if any((holder, str(user)) in failed for user in handle.get("required_by") or ()):
            name = str(handle["resource_name"])
            stacks.mark_unhealthy(holder, name, "its node did not become ready")


def present(record: Mapping[str, Any]) -> bool:
    """Whether a resource is there; Heat goes on to list what a condition has switched off."""
    return not str(record.get("resource_status")).startswith("DELETE_")
