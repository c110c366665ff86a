"""Empties nodes before they go, and lets pods back where they stay after all."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta

from temporalio import activity

from jeroboam.activities import threads
from jeroboam.activities.admission import Admission, Admitted
from jeroboam.drivers.base import SupportsDrain
from jeroboam.errors import (
    BackendFailedError,
    ClusterUnreachableError,
    DriverContractError,
    NodesNotEmptyError,
)
from jeroboam.models import Node, utc_now
from jeroboam.models.wire import StepInput, StepResult
from jeroboam.store import Store

UNDRAIN_TRIES = 4

PASS_SECONDS = 90.0
MARGIN_SECONDS = 60.0
PAUSE_SECONDS = 2.0
MOST_SHOWN = 3

REACHED = "reached"
"""What the heartbeat carries to the next attempt: the cluster has answered once."""


class DrainActivities:
    """The steps that empty nodes.

    Args:
        store: Keeps which nodes were chosen.
        admission: Decides which runs may work.
        patience_seconds: How long a cluster is asked that has not answered at all.
    """

    def __init__(self, store: Store, admission: Admission, patience_seconds: float) -> None:
        self._store, self._patience_seconds = store, patience_seconds
        self._admission = admission

    @activity.defn
    async def drain(self, step: StepInput) -> StepResult:
        """Choose the nodes that go, if not all do, and empty them.

        A cluster that never answers is left to its fate, with a warning: it may be broken, and
        that may be why its nodes go. One that has answered is respected: while a disruption
        budget forbids it, no node goes.

        Raises:
            NodesNotEmptyError: Pods are still there; the step goes on in its next attempt.
            BackendFailedError: Its time is up.
        """
        admitted = await self._admission.admit(step)
        if _seconds_left() <= 0:
            raise BackendFailedError("The nodes could not be emptied in time.")
        try:
            nodes = await self._nodes(admitted)
            left = await _pass(admitted, nodes)
        except ClusterUnreachableError as error:
            info = activity.info()
            waited = (utc_now() - info.scheduled_time).total_seconds()
            if REACHED in info.heartbeat_details or waited < self._patience_seconds:
                raise
            return StepResult(
                warning=f"The nodes go without being emptied: nobody answers. {error.message}"
            )
        activity.heartbeat(REACHED)
        until = time.monotonic() + PASS_SECONDS
        while left:
            if _seconds_left() <= 0:
                raise BackendFailedError(f"Pods did not leave in time. {_some(left)}")
            if time.monotonic() >= until:
                raise NodesNotEmptyError(f"Pods are still there. {_some(left)}")
            await asyncio.sleep(PAUSE_SECONDS)
            left = await _pass(admitted, nodes)
            activity.heartbeat(REACHED)
        return StepResult(message=f"Emptied: {', '.join(node.name for node in nodes) or 'none'}.")

    @activity.defn
    async def undrain(self, step: StepInput) -> StepResult:
        """Let pods onto the nodes again that stay after all."""
        admitted = await self._admission.admit(step)
        driver, group = _driver(admitted), admitted.spec.group(step.required_call.node_group or "")
        try:
            await threads.call(driver.undrain_nodes, admitted.context, admitted.spec, group.nodes)
        except ClusterUnreachableError as error:
            if activity.info().attempt < UNDRAIN_TRIES:
                raise
            return StepResult(
                warning=f"Nodes may still be closed to new pods; `kubectl uncordon` opens them: "
                f"{error.message}"
            )
        return StepResult()

    async def _nodes(self, admitted: Admitted) -> Sequence[Node]:
        """Return the nodes that go; what was chosen once stays chosen."""
        call, spec = admitted.step.required_call, admitted.spec
        group = spec.group(call.node_group or "")
        if call.method.removes:
            return group.nodes
        count = len(group.nodes) - admitted.target.group(group.uuid).node_count
        names = set(admitted.operation.parameters.nodes_to_remove)
        named = [node for node in group.nodes if node.name in names]
        if len(named) >= count:
            return named
        chosen = await threads.call(
            _driver(admitted).choose_removals, admitted.context, spec, group, count, named
        )
        chosen_names = tuple(node.name for node in chosen)
        await self._store.operations.choose_removals(admitted.operation.uuid, chosen_names)
        return chosen


def _seconds_left() -> float:
    """Return how long the step may go on.

    It ends before Temporal ends it: an attempt that goes on after that would close nodes which a
    roll-back has just opened.
    """
    info = activity.info()
    until = info.scheduled_time + (info.schedule_to_close_timeout or timedelta())
    return (until - utc_now()).total_seconds() - MARGIN_SECONDS


async def _pass(admitted: Admitted, nodes: Sequence[Node]) -> Mapping[str, str]:
    drain = _driver(admitted).drain_nodes
    return await threads.call(drain, admitted.context, admitted.spec, nodes)


def _driver(admitted: Admitted) -> SupportsDrain:
    if not isinstance(admitted.driver, SupportsDrain):
        raise DriverContractError(f"Driver '{admitted.driver.name}' empties no nodes.")
    return admitted.driver


def _some(left: Mapping[str, str]) -> str:
    shown = [f"{pod}: {reason}" for pod, reason in list(left.items())[:MOST_SHOWN]]
    more = f"; and {len(left) - MOST_SHOWN} more" if len(left) > MOST_SHOWN else ""
    return "; ".join(shown) + more
