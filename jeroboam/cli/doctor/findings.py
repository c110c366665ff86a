"""What an examination finds, and how examinations run: at once, each with a limit of time."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from jeroboam.errors import JeroboamError


class State(StrEnum):
    """How something is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    Args:
        check: What was looked at.
        detail: How it is, in a sentence.
        mend: What to do; empty where nothing is wrong.
    """

    check: str
    state: State
    detail: str
    mend: str = ""


@dataclass(frozen=True)
class Examination:
    """One thing to look at.

    Args:
        name: What, for the line that says that it took too long.
        look: Returns what it finds; what it raises is a finding too.
        mend: What to do when it fails or takes too long.
    """

    name: str
    look: Callable[[], Iterable[Finding]]
    mend: str


def ok(check: str, detail: str) -> Finding:
    """Return that something is as it should be."""
    return Finding(check, State.OK, detail)


def warn(check: str, detail: str, mend: str) -> Finding:
    """Return that something works, and may not be what was meant."""
    return Finding(check, State.WARN, detail, mend)


def fail(check: str, detail: str, mend: str) -> Finding:
    """Return that something keeps the service from working."""
    return Finding(check, State.FAIL, detail, mend)


def examine(examinations: Sequence[Examination], seconds: float) -> tuple[list[Finding], bool]:
    """Run examinations side by side.

    Returns:
        What they find, in their order; and whether one was left behind, so that a thread of it may
        still be there.

    Args:
        seconds: How long all of them may take together.
    """
    results: list[list[Finding] | None] = [None] * len(examinations)

    def run(place: int, one: Examination) -> None:
        results[place] = _looked(one)

    threads = [
        threading.Thread(target=run, args=(place, one), daemon=True)
        for place, one in enumerate(examinations)
    ]
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    late = f"There was no answer within {seconds:g} seconds."
    kept = list(results)
    findings = [
        finding
        for one, found in zip(examinations, kept, strict=True)
        for finding in (found if found is not None else [fail(one.name, late, one.mend)])
    ]
    return findings, None in kept


def _looked(one: Examination) -> list[Finding]:
    try:
        return list(one.look())
    except JeroboamError as error:
        return [fail(one.name, error.message, one.mend)]
    except Exception as error:  # noqa: BLE001 - whatever is wrong is what the report is for
        text = " ".join(str(error).split()) or "no reason given"
        return [fail(one.name, f"{type(error).__name__}: {text}", one.mend)]
