"""An interceptor that does harm around activities, as the rules of their operation say."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from temporalio import activity
from temporalio.client import Interceptor as ClientInterceptor
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
)

from jeroboam.models import Transition
from jeroboam.models.wire import OperationRequest, StepInput
from tests.chaos.rules import (
    ACKNOWLEDGED_SECONDS,
    EVERY_STEP,
    PLANNING,
    Act,
    Rule,
    RuleBook,
    When,
    writing,
)

RULES_SECONDS = 10.0
"""How long an operation's first step waits for the harness, which learns its id from the API."""

STANDSTILL_SECONDS = 1.0
"""How long a process may stand still for a crash: no longer, or it would be taken for dead."""


class ResultLostError(Exception):
    """The activity has done its work, and nobody has heard of it."""


class Saboteur(ClientInterceptor, Interceptor):
    """Given to a client, it is the outermost interceptor of the client's workers."""

    def __init__(self, rules: RuleBook) -> None:
        self._rules = rules

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - the name is the SDK's
        return _Sabotaged(next, self._rules)


class _Sabotaged(ActivityInboundInterceptor):
    def __init__(self, next_: ActivityInboundInterceptor, rules: RuleBook) -> None:
        super().__init__(next_)
        self._rules = rules

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002 - the name is the SDK's
        operation, step = _place(input.args[0] if input.args else None)
        if operation and step == PLANNING:
            await self._wait_for_rules(operation)
        found = self._rules.of(operation) if operation else ()
        rules = [rule for rule in found if rule.step in {step, EVERY_STEP}]
        if not rules:
            return await self.next.execute_activity(input)
        await self._obey(rules, When.BEFORE)
        with self._during(rules):
            result = await self.next.execute_activity(input)
            if self._any(rules, Act.TWICE):
                result = await self.next.execute_activity(input)
        await self._obey(rules, When.AFTER)
        if activity.info().attempt == 1 and self._any(rules, Act.LOST):
            raise ResultLostError
        return result

    def _any(self, rules: list[Rule], act: Act) -> bool:
        """Return whether a rule wants something of every activity that it is for, and note it."""
        found = [rule for rule in rules if rule.act is act]
        for rule in found:
            self._rules.fire(rule)
        return bool(found)

    async def _wait_for_rules(self, operation: str) -> None:
        deadline = time.monotonic() + RULES_SECONDS
        while time.monotonic() < deadline:
            if self._rules.known(operation):
                return
            await asyncio.sleep(0.02)

    async def _obey(self, rules: list[Rule], when: When) -> None:
        for rule in rules:
            if rule.when is when and self._rules.fire(rule):
                await asyncio.to_thread(self._act, rule.act, ACKNOWLEDGED_SECONDS)

    def _act(self, act: Act, seconds: float) -> None:
        if act is Act.WORKER:
            os.kill(os.getpid(), signal.SIGKILL)
        self._rules.ask(f"{act} {os.getpid()}" if act is Act.OTHER_WORKER else act, seconds)

    @contextmanager
    def _during(self, rules: list[Rule]) -> Iterator[None]:
        tasks = [
            asyncio.create_task(self._later(rule)) for rule in rules if rule.when is When.DURING
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()

    async def _later(self, rule: Rule) -> None:
        await asyncio.sleep(rule.seconds)
        if self._rules.fire(rule):
            # Nothing else may happen here until it is done: the activity would be over by then.
            self._act(rule.act, STANDSTILL_SECONDS)


def _place(argument: object) -> tuple[str | None, str]:
    if isinstance(argument, StepInput):
        return argument.operation_id, argument.step
    if isinstance(argument, OperationRequest):
        return argument.operation_id, PLANNING
    if isinstance(argument, Transition):
        return argument.operation_id, writing(argument.seq)
    return None, ""
