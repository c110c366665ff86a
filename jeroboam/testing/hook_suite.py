"""The compliance suite of hooks: what ``docs/hook-contract.md`` asks, as tests to inherit.

```python
class TestMyHook(HookSuite):
    @pytest.fixture
    def case(self) -> HookCase:
        return HookCase(hook=MyHook(), event=..., observe=...)
```
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import pytest

from jeroboam.errors import CloudUnavailableError, InvalidRequestError, JeroboamError
from jeroboam.hooks.base import Hook, HookEvent, HookResult, Reply
from jeroboam.hooks.registry import HookRegistry
from jeroboam.models import FailurePolicy, HookPhase, OperationKind

LONGEST_MESSAGE = 1000


class NoWayOut:
    """An outbound that refuses all, or does not answer.

    Args:
        error: What it raises.
    """

    def __init__(self, error: JeroboamError) -> None:
        self._error = error

    def check(self, url: str) -> None:
        """Refuse."""
        raise self._error

    def post(
        self, url: str, body: bytes, headers: Mapping[str, str], timeout_seconds: float
    ) -> Reply:
        """Refuse."""
        raise self._error


@dataclass(frozen=True)
class HookCase:
    """A hook with all that the suite needs.

    Args:
        event: One that the hook acts on, of a phase and an operation that it names.
        observe: Returns what the hook has changed in the world, comparable with ``==``. What the
            world itself tells apart as a repetition counts once.
        vetoes: Events that the hook refuses.
        bad_options: Options that ``check`` refuses, each with a part of the message.
        acts: Whether ``event`` changes what ``observe`` returns.
    """

    hook: Hook
    event: HookEvent
    observe: Callable[[], object]
    vetoes: tuple[HookEvent, ...] = ()
    bad_options: tuple[tuple[Mapping[str, object], str], ...] = ()
    acts: bool = True

    def run(self) -> HookResult:
        """Run the hook."""
        result = self.hook.run(self.event)
        assert result is None or isinstance(result, HookResult)
        return result or HookResult()


class HookSuite:
    """Subclass it and give the fixture ``case``."""

    def test_declares_itself(self, case: HookCase) -> None:
        """A hook has a name, phases, operations, a time-out and a failure policy."""
        hook = case.hook
        assert hook.name
        assert hook.name == hook.name.strip().lower()
        assert set(hook.phases) <= set(HookPhase)
        assert len(set(hook.phases)) == len(hook.phases) > 0
        assert set(hook.operations) <= set(OperationKind)
        assert len(set(hook.operations)) == len(hook.operations) > 0
        assert hook.timeout_seconds > 0
        assert isinstance(hook.on_failure, FailurePolicy)

    def test_is_chosen(self, case: HookCase) -> None:
        """The registry takes the hook, and finds it for the event's operation and phase."""
        assert case.event.phase in case.hook.phases
        assert case.event.operation in case.hook.operations
        after = [_named(name) for name in case.hook.runs_after]
        registry = HookRegistry([case.hook, *after])
        found = registry.for_operation(case.event.operation, case.event.phase)
        assert [hook.name for hook in found][-1] == case.hook.name

    def test_acts_once(self, case: HookCase) -> None:
        """A repeated call, as after a crash, changes nothing more and answers the same."""
        before = case.observe()
        first = case.run()
        changed = case.observe()
        assert (changed != before) is case.acts
        second = case.run()
        assert case.observe() == changed
        assert second.labels == first.labels
        assert second.later is first.later

    def test_leaves_the_event_alone(self, case: HookCase) -> None:
        """A hook changes neither the cluster that it is told of nor its options."""
        spec, options = case.event.spec.model_copy(deep=True), dict(case.event.options)
        case.run()
        assert case.event.spec == spec
        assert dict(case.event.options) == options

    def test_result_is_fit_for_the_record(self, case: HookCase) -> None:
        """The result is short text without secrets; labels come before a create only."""
        result = case.run()
        assert len(result.message) <= LONGEST_MESSAGE
        assert all(hidden not in result.model_dump_json() for hidden in _hidden(case))
        if (case.event.operation, case.event.phase) != (OperationKind.CREATE, HookPhase.BEFORE):
            assert not result.labels

    def test_vetoes(self, case: HookCase) -> None:
        """A refusal is an error of Jeroboam that is not tried again and tells no secret."""
        for event in case.vetoes:
            with pytest.raises(JeroboamError) as caught:
                case.hook.run(event)
            assert not caught.value.retryable
            assert caught.value.message
            assert all(hidden not in caught.value.message for hidden in _hidden(case))

    def test_no_way_out(self, case: HookCase) -> None:
        """Without a way out a hook ends with an error of Jeroboam that tells no secret."""
        if case.event.outbound is None:
            return
        for error in (
            CloudUnavailableError("The target does not answer."),
            InvalidRequestError("The target is not allowed."),
        ):
            with pytest.raises(JeroboamError) as caught:
                case.hook.run(replace(case.event, outbound=NoWayOut(error)))
            assert caught.value.retryable is error.retryable
            assert all(hidden not in caught.value.message for hidden in _hidden(case))

    def test_bad_options(self, case: HookCase) -> None:
        """Wrong options are refused when they are declared, with what is wrong."""
        outbound = case.event.outbound or NoWayOut(InvalidRequestError("No way out."))
        case.hook.check(case.event.options, case.event.secret, outbound)
        for options, expected in case.bad_options:
            with pytest.raises(InvalidRequestError, match=expected):
                case.hook.check(options, case.event.secret, outbound)


def _hidden(case: HookCase) -> list[str]:
    return [one for one in (case.event.secret, case.event.callback_url) if one]


def _named(hook_name: str) -> Hook:
    class Earlier(Hook):
        name = hook_name
        phases = tuple(HookPhase)
        operations = tuple(OperationKind)

        def run(self, event: HookEvent) -> None:
            """Do nothing."""

    return Earlier()
