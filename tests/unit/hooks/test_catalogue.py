"""Which hooks run with an operation, and in which order."""

from collections.abc import Iterable

import pytest

from jeroboam.drivers.base import DriverContext, SupportsHooks
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.hooks.base import Hook
from jeroboam.hooks.catalogue import choose, everything
from jeroboam.hooks.file import DeclaredHooks
from jeroboam.hooks.registry import HookRegistry
from jeroboam.models import (
    ClusterSpec,
    FailurePolicy,
    HookCall,
    HookPhase,
    HookSource,
    OperationKind,
)
from jeroboam.models.hook import HookDeclaration, HookScope
from jeroboam.models.plans import Hooks
from tests.unit.hooks.hooks import a_declaration, a_hook, declared_python
from tests.unit.specs import make_spec

BOTH = (HookPhase.BEFORE, HookPhase.AFTER)


class HookedDriver(FakeDriver, SupportsHooks):
    """A driver with hooks of its own."""

    def before(self, operation: OperationKind, context: DriverContext, spec: ClusterSpec) -> None:
        """Do nothing."""

    def after(self, operation: OperationKind, context: DriverContext, spec: ClusterSpec) -> None:
        """Do nothing."""


def chosen(
    *declarations: HookDeclaration,
    installed: Iterable[Hook] = (),
    in_file: Iterable[HookDeclaration] = (),
    kind: OperationKind = OperationKind.CREATE,
    spec: ClusterSpec | None = None,
    driver: type[FakeDriver] = FakeDriver,
) -> Hooks:
    declared = DeclaredHooks({one.name: one for one in in_file})
    return choose(
        kind,
        spec or make_spec(),
        driver=driver(),
        installed=HookRegistry(installed, declared),
        declarations=declarations,
    )


def before(hooks: Hooks) -> list[str | None]:
    return [one.call.name for one in hooks.before]


def test_driver_goes_first() -> None:
    """A driver's own hooks run in all phases, before all others."""
    found = chosen(a_declaration(phases=tuple(HookPhase)), driver=HookedDriver)
    for references in (found.before, found.after, found.on_failure):
        assert [one.call.source for one in references] == [HookSource.DRIVER, HookSource.WEBHOOK]


def test_installed_hooks_run_by_themselves_or_where_declared() -> None:
    """An automatic hook needs no declaration; another one runs only with one."""
    installed = (a_hook("auto"), a_hook("asked", runs_by_itself=False))
    assert before(chosen(installed=installed)) == ["auto"]
    assert before(chosen(declared_python("asked"), installed=installed)) == ["asked", "auto"]


def test_declaration_narrows_an_automatic_hook() -> None:
    """A declared hook no longer runs by itself: elsewhere, or when switched off, it does not."""
    installed = (a_hook("auto", in_phases=BOTH),)
    spec = make_spec(project_id="mine")
    for changes, expected in (
        ({"scope": HookScope.PROJECT, "scope_id": "mine"}, ["auto"]),
        ({"scope": HookScope.PROJECT, "scope_id": "other"}, []),
        ({"enabled": False}, []),
        ({"phases": (HookPhase.AFTER,)}, []),
    ):
        one = declared_python("auto", **changes)
        assert before(chosen(one, installed=installed, spec=spec)) == expected


def test_one_installed_hook_under_several_names() -> None:
    """One hook may be declared for two projects with different options."""
    installed = (a_hook("dns"),)
    found = chosen(
        declared_python("dns-a", hook="dns", timeout_seconds=7),
        declared_python("dns-b", hook="dns", on_failure=FailurePolicy.WARN),
        installed=installed,
    )
    assert before(found) == ["dns-a", "dns-b"]
    assert [one.timeout_seconds for one in found.before] == [7, 300]
    assert [one.on_failure for one in found.before] == [FailurePolicy.FAIL, FailurePolicy.WARN]


@pytest.mark.parametrize("scope", list(HookScope))
def test_scope(scope: HookScope) -> None:
    """A hook runs for the clusters of its scope and for no others."""
    mine, other = make_spec(project_id="p1"), make_spec(project_id="p2", driver="heat")
    ident = {
        HookScope.ALL: None,
        HookScope.DRIVER: mine.cluster.driver,
        HookScope.TEMPLATE: mine.template.uuid,
        HookScope.PROJECT: mine.cluster.project_id,
        HookScope.CLUSTER: mine.cluster.uuid,
    }[scope]
    one = a_declaration(scope=scope, scope_id=ident)
    assert before(chosen(one, spec=mine)) == ["approve"]
    assert before(chosen(one, spec=other)) == (["approve"] if scope is HookScope.ALL else [])


def test_operations() -> None:
    """A hook runs with its operations only; without any it runs with all."""
    narrow = a_declaration(operations=(OperationKind.DELETE,))
    assert before(chosen(narrow)) == []
    assert before(chosen(narrow, kind=OperationKind.DELETE)) == ["approve"]
    for kind in OperationKind:
        assert before(chosen(a_declaration(), kind=kind)) == ["approve"]


def test_order_over_all_sources() -> None:
    """A webhook may run after an installed hook, and that one after a command of the file."""
    installed = (a_hook("b-installed"),)
    in_file = (
        HookDeclaration(
            name="c-command", source=HookSource.COMMAND, argv=("/bin/true",), phases=BOTH
        ),
        declared_python("b", hook="b-installed", runs_after=("c-command",)),
    )
    webhook = a_declaration("a-webhook", runs_after=("b-installed",))
    found = chosen(webhook, installed=installed, in_file=in_file)
    assert before(found) == ["c-command", "b", "a-webhook"]
    assert [one.call.declaration for one in found.before] == ["c-command", "b", webhook.uuid]


def test_order_passes_over_what_is_out_of_scope() -> None:
    """A hook that runs after one of another project goes on, and keeps the order beyond it."""
    declared = (
        a_declaration("a", runs_after=("m",)),
        a_declaration("m", runs_after=("z",), scope=HookScope.PROJECT, scope_id="other"),
        a_declaration("z"),
    )
    assert before(chosen(*declared)) == ["z", "a"]


def test_contradictions_do_not_stop_operations() -> None:
    """A circle, or a name that is gone, costs the order and nothing else."""
    declared = (
        a_declaration("a", runs_after=("b",)),
        a_declaration("b", runs_after=("a", "ghost")),
    )
    assert sorted(str(name) for name in before(chosen(*declared))) == ["a", "b"]


def test_file_wins_over_the_api() -> None:
    """Of two declarations with one name the operator's holds."""
    mine = a_declaration(phases=(HookPhase.AFTER,))
    found = chosen(a_declaration(), in_file=(mine,))
    assert found.before == ()
    assert found.after[0].call.declaration == "approve"


def test_missing_installation_shows_in_the_plan() -> None:
    """A declared hook that is not installed here is planned, so that its step says so."""
    assert before(chosen(declared_python("gone"))) == ["gone"]


def test_calls_hold_no_options() -> None:
    """What goes into the run's history names the declaration, and nothing of what it says."""
    one = a_declaration(options={"token": "secret"})
    assert chosen(one).before[0].call == HookCall(
        phase=HookPhase.BEFORE,
        source=HookSource.WEBHOOK,
        name="approve",
        declaration=one.uuid,
    )


def test_everything_lists_what_waits_for_a_declaration() -> None:
    """The list for administrators has idle hooks too, switched off."""
    installed = HookRegistry([a_hook("auto"), a_hook("idle", runs_by_itself=False)])
    found = everything(installed, [a_declaration()])
    assert [(one.name, one.origin, one.enabled) for one in found] == [
        ("approve", "api", True),
        ("auto", "installed", True),
        ("idle", "installed", False),
    ]


def test_installed_dependencies_may_be_idle() -> None:
    """An installed hook that runs after an idle one, or a declared one, is ordered if it can be."""
    installed = (a_hook("z", runs_by_itself=False), a_hook("a", after=("z",)))
    assert before(chosen(installed=installed)) == ["a"]
    assert before(chosen(declared_python("y", hook="z"), installed=installed)) == ["y", "a"]
