"""The fault harness going through every point of every kind of operation, one after the other."""

import random
from collections import deque
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from jeroboam.models import ClusterSpec, OperationKind, Plan
from tests.chaos.cases import DEEDS, SIDES, Case, cases_of, fault_of
from tests.chaos.chooser import Shape, Wish
from tests.chaos.faults import COMPONENTS, Fault
from tests.chaos.rules import Act, When
from tests.chaos.steady import parameters_of

K = OperationKind
ACTS = (*COMPONENTS, *DEEDS)
SHAPE = Shape({"master_count": 1, "node_count": 2}, rollback=False)

ORDER = (
    K.CREATE_NODE_GROUP,
    K.UPDATE_NODE_GROUP,
    K.DELETE_NODE_GROUP,
    K.RESIZE,
    K.UPDATE,
    K.UPGRADE,
    K.REBUILD,
    K.SOFT_REBOOT,
    K.HARD_REBOOT,
    K.CHECK_HEALTH,
    K.ROTATE_CA,
)
"""How the kinds follow one another in the life of a cluster, between its creation and its end."""

REMOVALS = (K.DELETE, K.FORCE_DELETE)
KINDS = (K.CREATE, *ORDER, *REMOVALS)

Script = Sequence[tuple[K, Case | None]]
"""What one cluster goes through: first its creation, last its removal."""


@dataclass(frozen=True)
class Extent:
    """What a sweep covers.

    Args:
        repeats: How often a cluster goes through the kinds between creation and removal.
    """

    kinds: Sequence[K] = KINDS
    acts: Sequence[Act] = ACTS
    sides: Sequence[When] = SIDES
    repeats: int = 1

    def without(self, acts: Container[Act]) -> "Extent":
        """Return it without something that cannot be killed."""
        return replace(self, acts=[act for act in self.acts if act not in acts])


@dataclass
class Sweep:
    """All cases of a sweep, dealt out to clusters.

    A cluster is led through all kinds at first, without a fault, to learn how long the plans are.
    """

    templates: Sequence[str]
    extent: Extent = field(default_factory=Extent)
    _steps: dict[K, int] = field(default_factory=dict)
    _scripts: list[Script] = field(default_factory=list)

    def rehearsals(self) -> "list[Scripted]":
        """Return choosers that have nothing go wrong; to be asked before ``chooser``."""
        wanted = set(self.extent.kinds)
        middle = [(kind, None) for kind in _with_group(wanted)]
        ends = [kind for kind in REMOVALS if kind in wanted] or [K.DELETE]
        scripts: list[Script] = [((K.CREATE, None), *middle, (ends[0], None))]
        scripts += [((K.CREATE, None), (kind, None)) for kind in ends[1:]]
        return [Scripted(deque(script), self.templates, self._steps) for script in scripts]

    def chooser(self, number: int) -> "Scripted | None":
        """Return what decides for a cluster; ``None`` if there is nothing left for it."""
        scripts = self._dealt()
        if number >= len(scripts):
            return None
        return Scripted(deque(scripts[number]), self.templates, {})

    def cases(self, first: int = 0) -> int:
        """Return how many cases the clusters from a number on have."""
        return sum(case is not None for script in self._dealt()[first:] for _, case in script)

    def _dealt(self) -> list[Script]:
        if not self._scripts:
            self._scripts = list(deal(self._all(), self.extent.repeats))
        return self._scripts

    def _all(self) -> dict[K, list[Case]]:
        found = {}
        for kind in self.extent.kinds:
            extent = self.extent
            cases = list(cases_of(kind, self._steps[kind], extent.acts, extent.sides))
            # In no order that one would see: clusters that live at the same time should not all
            # have the same component killed.
            random.Random(kind).shuffle(cases)
            found[kind] = cases
        return found


def deal(cases: Mapping[K, Sequence[Case]], repeats: int = 1) -> Iterator[Script]:
    """Yield scripts until all cases are dealt out, each of them once."""
    left = {kind: deque(cases.get(kind, ())) for kind in KINDS}
    while any(left.values()):
        first = _take(left[K.CREATE])
        middle: list[tuple[K, Case | None]] = []
        for _ in range(repeats):
            wanted = {kind for kind in ORDER if left[kind]}
            middle += [(kind, _take(left[kind])) for kind in _with_group(wanted)]
        removal = max(REMOVALS, key=lambda kind: len(left[kind]))
        yield ((K.CREATE, first), *middle, (removal, _take(left[removal])))


def _take(cases: deque[Case]) -> Case | None:
    return cases.popleft() if cases else None


def _with_group(wanted: set[K]) -> list[K]:
    """Return kinds in order, with the creation of the node group that some of them need."""
    if wanted & {K.UPDATE_NODE_GROUP, K.DELETE_NODE_GROUP}:
        wanted = wanted | {K.CREATE_NODE_GROUP}
    return [kind for kind in ORDER if kind in wanted]


@dataclass
class Scripted:
    """Has a cluster go through its script.

    Args:
        script: What is left of it; its first entry is at work.
        steps: Takes the lengths of the plans.
    """

    script: deque[tuple[K, Case | None]]
    templates: Sequence[str]
    steps: dict[K, int]

    def shape(self) -> Shape:
        """Return the one that all have: plans must be as long as in the rehearsal."""
        return SHAPE

    def wish(self, spec: ClusterSpec) -> Wish:
        """Return what comes next in the script."""
        kind, _ = self.script.popleft()
        if not self.script:
            # It ended badly and can only be repeated.
            self.script.append((kind, None))
        kind, _ = self.script[0]
        return kind, parameters_of(kind, spec, self.templates)

    def kills_api(self) -> bool:
        """Return what the script says."""
        _, case = self.script[0]
        return case is not None and case.kills_api

    def fault(self, plan: Plan) -> Fault:
        """Return what the script says."""
        kind, case = self.script[0]
        self.steps[kind] = len(plan.steps)
        return fault_of(case, plan) if case else Fault(name="none")

    def insists(self) -> bool:
        """Return that there is nothing to prove by it."""
        return False
