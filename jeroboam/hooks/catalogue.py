"""Chooses the hooks of an operation from all sources. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from jeroboam.drivers.base import ClusterDriver, SupportsHooks
from jeroboam.hooks import order
from jeroboam.hooks.base import Hook
from jeroboam.hooks.registry import HookRegistry
from jeroboam.models import ClusterSpec, FailurePolicy, HookCall, HookPhase, OperationKind
from jeroboam.models.hook import HookDeclaration
from jeroboam.models.plan import HookSource
from jeroboam.models.plans import HookReference, Hooks

TIMEOUT_SECONDS = 300
"""What a hook gets for all its attempts when nobody says otherwise."""


@dataclass(frozen=True)
class Entry:
    """A hook with its declaration; one of the two may be missing.

    Args:
        installed: ``None`` for webhooks and commands, and for what is not installed here.
        declaration: ``None`` for an installed hook that runs by itself.
        in_file: Whether the declaration is in the operator's file.
    """

    name: str
    installed: Hook | None
    declaration: HookDeclaration | None = None
    in_file: bool = False

    @property
    def source(self) -> HookSource:
        """What kind of hook it is."""
        return self.declaration.source if self.declaration else HookSource.PYTHON

    @property
    def phases(self) -> frozenset[HookPhase]:
        """When it runs.

        A declared hook that is missing here runs in all phases: its step then fails and says so.
        """
        own = frozenset(self.installed.phases if self.installed else HookPhase)
        declared = self.declaration.phases if self.declaration else None
        return own if declared is None else own & frozenset(declared)

    @property
    def operations(self) -> frozenset[OperationKind]:
        """With which operations it runs."""
        own = frozenset(self.installed.operations if self.installed else OperationKind)
        declared = self.declaration.operations if self.declaration else None
        return own if declared is None else own & frozenset(declared)

    @property
    def runs_after(self) -> tuple[str, ...]:
        """Names of what it was declared to run after."""
        return self.declaration.runs_after if self.declaration else ()

    @property
    def installed_runs_after(self) -> tuple[str, ...]:
        """Names of installed hooks that run earlier, if they run."""
        return tuple(self.installed.runs_after) if self.installed else ()

    def reference(self, phase: HookPhase) -> HookReference:
        """Return what the engine must know to run it."""
        declared = self.declaration
        call = HookCall(
            phase=phase,
            source=self.source,
            name=self.name,
            declaration=(declared.name if self.in_file else declared.uuid) if declared else None,
        )
        return HookReference(
            call=call, timeout_seconds=self.timeout_seconds, on_failure=self.on_failure
        )

    @property
    def origin(self) -> str:
        """Where it is declared: ``file``, ``api``, or not at all and only ``installed``."""
        if self.declaration is None:
            return "installed"
        return "file" if self.in_file else "api"

    @property
    def enabled(self) -> bool:
        """Whether it is switched on."""
        if self.declaration is None:
            return self.installed is not None and self.installed.automatic
        return self.declaration.enabled

    @property
    def timeout_seconds(self) -> int:
        """The time for all attempts and a late answer."""
        own = self.installed.timeout_seconds if self.installed else TIMEOUT_SECONDS
        return (self.declaration.timeout_seconds if self.declaration else None) or own

    @property
    def on_failure(self) -> FailurePolicy:
        """What its failure means for the operation."""
        own = self.installed.on_failure if self.installed else FailurePolicy.FAIL
        return (self.declaration.on_failure if self.declaration else None) or own

    def runs_for(self, kind: OperationKind, spec: ClusterSpec) -> bool:
        """Whether it runs at all with an operation on a cluster."""
        concerned = self.declaration is None or self.declaration.concerns(spec)
        return self.enabled and concerned and kind in self.operations


def choose(
    kind: OperationKind,
    spec: ClusterSpec,
    *,
    driver: ClusterDriver,
    installed: HookRegistry,
    declarations: Sequence[HookDeclaration],
) -> Hooks:
    """Return the hooks of an operation by phase, in order; the driver's own go first.

    Args:
        spec: The cluster that the operation works on.
        installed: What is installed, with the declarations of the operator's file.
        declarations: Those that were made by the API.
    """
    chosen = [
        entry for entry in arranged(entries(installed, declarations)) if entry.runs_for(kind, spec)
    ]

    def of_phase(phase: HookPhase) -> tuple[HookReference, ...]:
        own = (HookReference(call=HookCall(phase=phase)),)
        others = (entry.reference(phase) for entry in chosen if phase in entry.phases)
        return (*(own if isinstance(driver, SupportsHooks) else ()), *others)

    return Hooks(
        before=of_phase(HookPhase.BEFORE),
        after=of_phase(HookPhase.AFTER),
        on_failure=of_phase(HookPhase.FAILURE),
    )


def everything(
    installed: HookRegistry, declarations: Iterable[HookDeclaration]
) -> tuple[Entry, ...]:
    """Return all hooks in order, and then those that are installed and wait for a declaration."""
    found = arranged(entries(installed, declarations))
    known = {entry.name for entry in found} | {
        entry.installed.name for entry in found if entry.installed
    }
    idle = (Entry(hook.name, hook) for hook in installed.all() if hook.name not in known)
    return (*found, *idle)


def entries(installed: HookRegistry, declarations: Iterable[HookDeclaration]) -> tuple[Entry, ...]:
    """Return all hooks: declared in the file, declared by the API, and those that need neither.

    A name in the file wins over the same name in the API. An installed hook that somebody declares
    no longer runs by itself.
    """
    in_file = tuple(installed.declared.values())
    stored = (one for one in declarations if one.name not in installed.declared)
    declared = [
        *(_declared(installed, one, in_file=True) for one in in_file),
        *(_declared(installed, one, in_file=False) for one in stored),
    ]
    taken = {entry.declaration.installed_name for entry in declared if entry.declaration}
    names = {entry.name for entry in declared}
    automatic = (
        Entry(name=hook.name, installed=hook)
        for hook in installed.all()
        if hook.automatic and hook.name not in taken | names
    )
    return (*declared, *automatic)


def dependencies(found: Iterable[Entry]) -> Mapping[str, tuple[str, ...]]:
    """Return by name what each hook runs after.

    The name of an installed hook stands for all declarations which run it.
    """
    by_name = {entry.name: entry for entry in found}
    aliases: dict[str, list[str]] = {}
    for entry in by_name.values():
        if entry.installed and entry.installed.name not in by_name:
            aliases.setdefault(entry.installed.name, []).append(entry.name)

    def targets(entry: Entry) -> Iterable[str]:
        for wanted in entry.runs_after:
            yield from aliases.get(wanted, [wanted])
        for wanted in entry.installed_runs_after:
            yield from aliases.get(wanted, [wanted] if wanted in by_name else [])

    return {name: tuple(targets(entry)) for name, entry in by_name.items()}


def arranged(found: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return hooks in the order in which they run."""
    by_name = {entry.name: entry for entry in found}
    return tuple(by_name[name] for name in order.ordered(dependencies(found)))


def _declared(installed: HookRegistry, declaration: HookDeclaration, *, in_file: bool) -> Entry:
    name = declaration.installed_name
    hook = installed.find(name) if name else None
    return Entry(declaration.name, hook, declaration, in_file)
