"""What a run has found: a line for each round, evidence for each problem, a table at the end."""

import asyncio
import json
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from jeroboam.models import Operation, OperationKind, OperationState

WORDS = ("lost", "stuck", "duplicated", "orphaned", "wrong")


@dataclass(frozen=True)
class Round:
    """One attempt of one operation.

    Args:
        where: The points at which something was to be struck.
        missed: Those of them that the operation never came to.
    """

    cluster: int
    kind: OperationKind
    fault: str
    state: OperationState
    seconds: float
    problems: list[str]
    where: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)


class Report:
    """Collects rounds.

    Args:
        directory: Gets ``rounds.jsonl`` and a folder for each problem.
        seed: Of the run.
        quiet: Whether to print problems only.

    Attributes:
        cases: How many rounds with a strike are to come, where that is known.
    """

    def __init__(self, directory: Path, seed: str, *, quiet: bool = False) -> None:
        self.directory = directory
        self.rounds: list[Round] = []
        self._seed = seed
        self._quiet = quiet
        self.cases: int | None = None
        self._notes: list[str] = []
        self._started = time.monotonic()
        directory.mkdir(parents=True, exist_ok=True)

    @property
    def problems(self) -> list[str]:
        """All that was found."""
        return [problem for one in self.rounds for problem in one.problems]

    @property
    def struck(self) -> list[Round]:
        """The rounds in which something was to strike at a point."""
        return [one for one in self.rounds if one.where]

    @property
    def missed(self) -> list[str]:
        """What was to strike and did not: such a round proves nothing."""
        return [f"{one.kind}: {where}" for one in self.rounds for where in one.missed]

    def note(self, remark: str) -> None:
        """Take a remark for the end of the table."""
        self._notes.append(remark)

    def add(self, one: Round) -> None:
        """Take a round, and tell about it."""
        self.rounds.append(one)
        with (self.directory / "rounds.jsonl").open("a") as file:
            file.write(json.dumps({"seed": self._seed, **asdict(one)}) + "\n")
        if one.problems or not self._quiet:
            passed = time.monotonic() - self._started
            missed = f"never struck: {', '.join(one.missed)}" if one.missed else "ok"
            verdict = " ".join(one.problems) or missed
            count = f"round {len(self.rounds):4}"
            if self.cases is not None:
                count = f"case {len(self.struck):4} of {self.cases}"
            sys.stdout.write(
                f"{passed:6.0f} s  {count}  cluster {one.cluster:4}  "
                f"{one.kind:18} {one.state:10} {one.seconds:5.1f} s  {one.fault:44} {verdict}\n"
            )
            sys.stdout.flush()

    def found(self, cluster: int, kind: OperationKind, fault: str, problems: list[str]) -> None:
        """Take a problem that ended a cluster's life."""
        self.add(Round(cluster, kind, fault, OperationState.FAILED, 0.0, problems))

    async def evidence(
        self, cluster: int, name: str, operation: Operation | None = None, known: Any = None
    ) -> None:
        """Keep what is needed to find the cause of a problem."""
        folder = self.directory / f"problem-{cluster}"
        await asyncio.to_thread(self._keep, folder, name, operation, known)

    @staticmethod
    def _keep(folder: Path, name: str, operation: Operation | None, known: Any) -> None:
        folder.mkdir(exist_ok=True)
        with (folder / "what.txt").open("a") as file:
            file.write(f"{name}\n")
        if operation:
            text = operation.model_dump_json(indent=1)
            (folder / f"operation-{operation.uuid}.json").write_text(text)
        if known:
            (folder / "backend.json").write_text(known.model_dump_json(indent=1))

    def table(self, crashes: Counter[str]) -> str:
        """Return the summary."""
        lines = [f"seed {self._seed}: {len(self.rounds)} rounds", ""]
        kinds = Counter(one.kind for one in self.rounds)
        states = Counter((one.kind, one.state) for one in self.rounds)
        bad = Counter(one.kind for one in self.rounds if one.problems)
        lines.append(f"{'operation':20} {'rounds':>7} {'well':>6} {'badly':>6} {'problems':>9}")
        for kind, count in sorted(kinds.items()):
            well = states[kind, OperationState.SUCCEEDED]
            lines.append(f"{kind:20} {count:7} {well:6} {count - well:6} {bad[kind]:9}")
        lines += ["", f"{'fault':52} {'rounds':>7} {'problems':>9}"]
        names = Counter(part for one in self.rounds for part in one.fault.split(" + "))
        bad_names = Counter(
            part for one in self.rounds if one.problems for part in one.fault.split(" + ")
        )
        for name, count in sorted(names.items()):
            lines.append(f"{name:52} {count:7} {bad_names[name]:9}")
        killed = ", ".join(f"{name} {count}" for name, count in sorted(crashes.items()))
        found = Counter(problem.partition(":")[0] for problem in self.problems)
        lines += ["", f"killed: {killed or 'nothing'}"]
        points = sum(len(one.where) for one in self.rounds)
        lines.append(f"points struck: {points - len(self.missed)} of {points}")
        lines += self._notes
        lines.append("  ".join(f"{word} {found[word]}" for word in WORDS))
        return "\n".join(lines)
