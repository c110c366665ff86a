"""The compliance suite finds hooks that break the contract."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from jeroboam.errors import CloudUnavailableError, DriverContractError, JeroboamError
from jeroboam.hooks.base import Hook, HookEvent, HookResult, Outbound
from jeroboam.models import HookPhase, OperationKind
from jeroboam.testing.hook_suite import HookCase, HookSuite, NoWayOut
from tests.unit.hooks.hooks import an_event


class Good(Hook):
    """Keeps to the contract; tests break one thing each."""

    name = "good"
    phases: ClassVar[Sequence[HookPhase]] = (HookPhase.BEFORE,)
    operations = (OperationKind.CREATE,)

    def __init__(self) -> None:
        self.effects: list[str] = []

    def run(self, event: HookEvent) -> HookResult | None:
        """Act once."""
        if event.idempotency_key not in self.effects:
            self.effects.append(event.idempotency_key)
        return None


class Repeats(Good):
    def run(self, event: HookEvent) -> HookResult | None:
        self.effects.append(event.idempotency_key)
        return None


class Idle(Good):
    def run(self, event: HookEvent) -> HookResult | None:
        return None


class Tells(Good):
    def run(self, event: HookEvent) -> HookResult | None:
        super().run(event)
        return HookResult(message=f"used {event.secret}")


class Talks(Good):
    def run(self, event: HookEvent) -> HookResult | None:
        super().run(event)
        return HookResult(message="x" * 5000)


class Labels(Good):
    phases = (HookPhase.AFTER,)

    def run(self, event: HookEvent) -> HookResult | None:
        super().run(event)
        return HookResult(labels={"late": "yes"})


class Meddles(Good):
    def run(self, event: HookEvent) -> HookResult | None:
        super().run(event)
        event.options["seen"] = True  # type: ignore[index]  # this is the point
        return None


class ReturnsText(Good):
    def run(self, event: HookEvent) -> Any:
        super().run(event)
        return "fine"


class Nameless(Good):
    name = ""


class Timeless(Good):
    timeout_seconds = 0


class Twice(Good):
    phases = (HookPhase.BEFORE, HookPhase.BEFORE)


class Elsewhere(Good):
    operations = (OperationKind.DELETE,)


class VetoesForever(Good):
    def run(self, event: HookEvent) -> HookResult | None:
        super().run(event)
        raise CloudUnavailableError("Try again.")


class VetoesWithSecret(Good):
    def run(self, event: HookEvent) -> HookResult | None:
        raise DriverContractError(f"No, says {event.secret}.")


class SwallowsOutages(Good):
    def run(self, event: HookEvent) -> HookResult | None:
        super().run(event)
        try:
            if event.outbound:
                event.outbound.post("https://example.org", b"", {}, 1)
        except JeroboamError:
            return None
        return None


class TakesAnyOption(Good):
    def check(self, options: Mapping[str, Any], secret: str | None, outbound: Outbound) -> None:
        """Take all."""


def case_of(hook: Good, **changes: Any) -> HookCase:
    event = an_event(options={"level": 1}, phase=hook.phases[0])
    case = HookCase(hook=hook, event=event, observe=lambda: list(hook.effects))
    return replace(case, **changes)


@contextmanager
def found() -> Iterator[None]:
    """Expect that the suite complains."""
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        yield


SUITE = HookSuite()


class TestGood(HookSuite):
    """A hook that keeps to the contract passes."""

    @pytest.fixture
    def case(self) -> HookCase:
        return case_of(Good())


@pytest.mark.parametrize(
    ("hook", "test"),
    [
        (Repeats, SUITE.test_acts_once),
        (Idle, SUITE.test_acts_once),
        (ReturnsText, SUITE.test_acts_once),
        (Tells, SUITE.test_result_is_fit_for_the_record),
        (Talks, SUITE.test_result_is_fit_for_the_record),
        (Labels, SUITE.test_result_is_fit_for_the_record),
        (Meddles, SUITE.test_leaves_the_event_alone),
        (Nameless, SUITE.test_declares_itself),
        (Timeless, SUITE.test_declares_itself),
        (Twice, SUITE.test_declares_itself),
        (Elsewhere, SUITE.test_is_chosen),
    ],
)
def test_breach_is_found(hook: type[Good], test: Callable[[HookCase], None]) -> None:
    """Each breach is found by the test that is about it."""
    with found():
        test(case_of(hook()))


@pytest.mark.parametrize("hook", [Good, VetoesForever, VetoesWithSecret])
def test_wrong_veto_is_found(hook: type[Good]) -> None:
    """A veto that does not come, is tried again, or tells a secret is found."""
    with found():
        SUITE.test_vetoes(case_of(hook(), vetoes=(an_event(),)))


def test_swallowed_outage_is_found() -> None:
    """A hook that takes an outage for success is found."""
    outbound = NoWayOut(CloudUnavailableError("Down."))
    with found():
        SUITE.test_no_way_out(case_of(SwallowsOutages(), event=an_event(outbound=outbound)))


def test_unchecked_options_are_found() -> None:
    """A hook that takes options which the case calls wrong is found."""
    with found():
        SUITE.test_bad_options(case_of(TakesAnyOption(), bad_options=(({"x": 1}, "x"),)))
