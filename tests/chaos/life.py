"""The life of one cluster: created, worked on, deleted, with a fault in each round."""

import asyncio
import random
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel

from jeroboam.activities.planning import Planner
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.errors import NotFoundError
from jeroboam.hooks.registry import HookRegistry
from jeroboam.models import (
    Cluster,
    ClusterSpec,
    Operation,
    OperationKind,
    OperationState,
    Parameters,
)
from jeroboam.models.lifecycle import TRAITS, OnCancel
from tests.chaos.chooser import Chooser
from tests.chaos.environment import Environment
from tests.chaos.faults import Fault, Hand, Outcome
from tests.chaos.hands import Operator
from tests.chaos.hook import ChaosHook
from tests.chaos.oracle import Case, is_settled
from tests.chaos.report import Report, Round
from tests.chaos.rules import Rule, When, crash_mark
from tests.chaos.tenant import RefusedError, Tenant

API_DIES = "api before the start"

CONFLICT = 409
MOST_RETRIES = 4
LATE_LOOKS = 15
"""At ten a second."""
K = OperationKind


class StuckError(Exception):
    """An operation did not end."""


@dataclass
class Life:
    """One cluster.

    Args:
        number: Of the cluster.
        template: uuid of the one that it is created from.
        chooser: Decides what is asked and what goes wrong.
        chance: Decides where somebody who meddles does so.
    """

    environment: Environment
    tenant: Tenant
    report: Report
    number: int
    template: str
    chooser: Chooser
    chance: random.Random
    spec: ClusterSpec | None = None
    _cluster: Cluster = field(init=False)
    _hook: ChaosHook = field(init=False)
    _planner: Planner = field(init=False)

    def __post_init__(self) -> None:
        self._hook = ChaosHook(self.environment.directory)
        self._world = self.environment.world
        drivers = DriverRegistry([DriverEntry(self._world.driver)])
        self._planner = Planner(self.environment.store, drivers, HookRegistry([self._hook]))

    async def live(self) -> None:
        """Go through all rounds; what is found goes into the report."""
        try:
            await self._create()
            while self.spec is not None:
                await self._round(self.spec, *self.chooser.wish(self.spec))
        except StuckError as error:
            await self.report.evidence(self.number, str(error))
        except Exception as error:  # noqa: BLE001 - one cluster's trouble must not end the run
            problem = f"wrong: {type(error).__name__}: {error}"
            self.report.found(self.number, K.CREATE, "the harness", [problem])
            await self.report.evidence(self.number, traceback.format_exc())

    async def _create(self) -> None:
        shape = self.chooser.shape()
        body = {"name": self._name, "cluster_template_id": self.template, **shape.fields}
        crash = self._maybe_crash_api()
        operation = await self.tenant.create(body, rollback=shape.rollback)
        before = await self._read(operation)
        assert before is not None
        self.spec, self._cluster = before, before.cluster
        await self._see_through(operation, before, crash_api=crash)

    @property
    def _name(self) -> str:
        return f"chaos-{self.number}"

    async def _round(
        self, before: ClusterSpec, kind: OperationKind, parameters: Parameters
    ) -> None:
        crash = self._maybe_crash_api()
        try:
            operation = await self.tenant.ask(before.cluster, kind, parameters)
        except RefusedError as error:
            self.report.found(self.number, kind, "none", [f"wrong: refused: {error}"])
            raise StuckError(str(error)) from error
        await self._see_through(operation, before, crash_api=crash)

    def _maybe_crash_api(self) -> bool:
        crash = self.chooser.kills_api()
        if crash:
            self._crash_mark.touch()
        return crash

    @property
    def _crash_mark(self) -> Path:
        return crash_mark(self.environment.directory, self._name)

    async def _see_through(
        self, operation: Operation, before: ClusterSpec, *, crash_api: bool
    ) -> None:
        """Let a fault happen to an operation, judge its end, and repair until all is settled."""
        plan = await self.tenant.read(lambda: self._planner.plan(operation))
        fault = self.chooser.fault(plan)
        if crash_api:
            name = f"{fault.name} + crash of api before start"
            fault = fault.model_copy(update={"name": name, "crash_api": True})
        ended = await self._attempt(operation, before, fault, attempts=1)
        attempts = 1
        while self.spec is not None and self._wants_retry(ended):
            attempts += 1
            if attempts > MOST_RETRIES:
                raise StuckError(f"{operation.kind} {operation.uuid} cannot be ended well")
            again = Fault(name=f"retry after {fault.name}")
            await self._retry(ended)
            ended = await self._attempt(ended, before, again, attempts=attempts)

    def _wants_retry(self, ended: Operation) -> bool:
        if ended.state is OperationState.SUCCEEDED or self.spec is None:
            return False
        return not is_settled(self.spec, ended) or self.chooser.insists()

    async def _attempt(
        self, operation: Operation, before: ClusterSpec, fault: Fault, *, attempts: int
    ) -> Operation:
        started = time.monotonic()
        rules = self._prepare(operation, fault)
        meddling = asyncio.create_task(self._meddle(operation, fault))
        try:
            ended = await self._ended(operation, meddling)
            await meddling
            ended = await self._ended(operation)
            await self._let_strikes_land(rules)
        finally:
            meddling.cancel()
            self._tidy(operation)
        self.spec = await self._read(operation)
        if fault.outcome is Outcome.REMOVED:
            await self._wait_for_removal(operation)
        problems = await self._judge(ended, fault, before, attempts)
        self.report.add(
            Round(
                cluster=self.number,
                kind=ended.kind,
                fault=fault.name,
                state=ended.state,
                seconds=time.monotonic() - started,
                problems=problems,
                where=[*map(str, rules), *([API_DIES] if fault.crash_api else [])],
                missed=self._missed(rules, fault),
            )
        )
        if problems:
            await self.report.evidence(self.number, str(ended.uuid), ended, await self._known())
            raise StuckError(f"{ended.kind} {ended.uuid}: {problems[0]}")
        return ended

    async def _let_strikes_land(self, rules: Sequence[Rule]) -> None:
        """Give a moment to what strikes after the last write of the record, which shows the end."""
        late = [rule for rule in rules if rule.when is When.AFTER]
        for _ in range(LATE_LOOKS):
            if all(self.environment.rules.fired(rule) for rule in late):
                return
            await asyncio.sleep(0.1)

    async def _judge(
        self, ended: Operation, fault: Fault, before: ClusterSpec, attempts: int
    ) -> list[str]:
        """Return what is wrong; a moment is given to what ends right after the record."""
        problems = await self._compare(ended, fault, before, attempts)
        if problems:
            await asyncio.sleep(1)
            self.spec = await self._read(ended)
            problems = await self._compare(ended, fault, before, attempts)
        return problems

    async def _compare(
        self, ended: Operation, fault: Fault, before: ClusterSpec, attempts: int
    ) -> list[str]:
        known = await self._known()
        case = Case(ended, fault.outcome, before, self.spec, known, attempts)
        return list(self._world.judge(case))

    def _missed(self, rules: Sequence[Rule], fault: Fault) -> list[str]:
        """Return what was to strike and has not."""
        missed = [str(rule) for rule in rules if not self.environment.rules.fired(rule)]
        if fault.crash_api and self._crash_mark.exists():
            self._crash_mark.unlink()
            missed.append(API_DIES)
        return missed

    def _prepare(self, operation: Operation, fault: Fault) -> Sequence[Rule]:
        if fault.labels:
            self._world.set_fault(self._cluster, fault.labels)
        if fault.hook:
            self._hook.prepare(operation.uuid, *fault.hook)
        rules = [
            Rule.new(operation.uuid, one.step, one.when, one.act, one.seconds)
            for one in fault.strikes
        ]
        self.environment.rules.set(operation.uuid, rules)
        return rules

    def _tidy(self, operation: Operation) -> None:
        self._world.clear_fault(self._cluster)
        self._hook.forget(operation.uuid)
        self.environment.rules.set(operation.uuid, ())

    async def _ended(
        self, operation: Operation, meddling: asyncio.Task[None] | None = None
    ) -> Operation:
        """Wait for an operation's end; trouble of somebody who meddles with it ends the wait.

        However slow the machine is, an operation that is not stuck goes on from time to time.
        """
        seq, deadline = -1, 0.0
        while True:
            found = await self._now(operation)
            if not found.state.active:
                return found
            if found.seq != seq:
                seq, deadline = found.seq, time.monotonic() + self._world.end_seconds
            if time.monotonic() > deadline:
                break
            if meddling and meddling.done():
                meddling.result()
            await asyncio.sleep(0.1)
        problem = f"stuck: {found.kind} is {found.state} at '{found.current_step}'"
        self.report.found(self.number, found.kind, "?", [problem])
        await self.report.evidence(self.number, str(found.uuid), found, await self._known())
        raise StuckError(problem)

    async def _now(self, operation: Operation) -> Operation:
        return await self.tenant.read(lambda: self.environment.store.operations.get(operation.uuid))

    async def _retry(self, ended: Operation) -> None:
        """Ask for a retry; the second request is refused where the first answer was lost."""
        try:
            await self.tenant.control(ended, "retry")
        except RefusedError:
            now = await self._now(ended)
            if now.state is ended.state:
                raise

    async def _wait_for_removal(self, operation: Operation) -> None:
        deadline = time.monotonic() + self._world.end_seconds
        while self.spec is not None and time.monotonic() < deadline:
            for other in await self.tenant.operations(operation.cluster_id):
                if other.kind.deletes and not other.state.active and self.spec is not None:
                    self.spec = await self._read(operation)
            await asyncio.sleep(0.2)
            self.spec = await self._read(operation)

    async def _read(self, operation: Operation) -> ClusterSpec | None:
        try:
            return await self.tenant.read(
                lambda: self.environment.store.clusters.spec(operation.cluster_id)
            )
        except NotFoundError:
            return None

    async def _known(self) -> BaseModel:
        return await self._world.known(self._cluster)

    async def _meddle(self, operation: Operation, fault: Fault) -> None:
        """Do what somebody does to the operation."""
        if fault.hand is None:
            return
        if fault.hand is Hand.RERUN:
            await self._ended(operation)
        await asyncio.sleep(fault.after_seconds)
        # What follows meets an honest backend, whether or not the first call was made by now.
        self._world.clear_fault(self._cluster)
        while not await self._lay_hand(operation, fault.hand):
            # Nobody could hear it: the run has not been started yet, or was just ending.
            await asyncio.sleep(0.3)
            if not (await self._now(operation)).state.active:
                return

    async def _lay_hand(self, operation: Operation, hand: Hand) -> bool:
        """Return whether it was possible, or never will be."""
        cluster = self.spec.cluster if self.spec else None
        match hand:
            case Hand.CANCEL:
                return await self._cancel(operation)
            case Hand.DELETE | Hand.FORCE_DELETE if cluster:
                kind = K.DELETE if hand is Hand.DELETE else K.FORCE_DELETE
                removal = await self.tenant.ask(cluster, kind, Parameters())
                self.environment.rules.set(removal.uuid, ())
            case Hand.TERMINATE | Hand.CANCEL_RUN | Hand.RESET | Hand.RERUN:
                operator = Operator(self.environment, self.chance)
                return await operator.lay_hand(hand, operation, cluster)
        return True

    async def _cancel(self, operation: Operation) -> bool:
        try:
            await self.tenant.control(operation, "cancel")
        except RefusedError as error:
            if error.status != CONFLICT:
                raise
            return TRAITS[operation.kind].on_cancel is OnCancel.REFUSE
        return True
