"""An execution of Mistral's, as Jeroboam reads it. Pure."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jeroboam.drivers.base import Phase, Progress
from jeroboam.drivers.openstack import redact

MARK = "jeroboam "
"""What the descriptions of all executions begin with; cluster, call and due time follow."""

FIELDS = ("id", "description", "state", "state_info", "workflow_name")

RUNNING = "RUNNING"
BEGUN = (RUNNING, "DELAYED")
"""The states of tasks that go on by themselves."""

_ENDED = frozenset({"SUCCESS", "ERROR", "CANCELLED", "SKIPPED"})

_MESSAGE = re.compile(r"msg='(?P<text>[^']+)'")
_LOST = "heartbeat"
"""In the reason of an action whose executor has ended in the middle of it."""

_LONGEST = 500


@dataclass(frozen=True)
class Execution:
    """One execution.

    Args:
        cluster: uuid of the cluster; empty if it is not one of Jeroboam's.
        key: Digest of the call.
        reason: Why it is in its state, in Mistral's words.
        due: When its token ends, in seconds since 1970; nothing if that is not known.
    """

    id: str
    cluster: str
    key: str
    work: str
    state: str
    reason: str
    due: int | None = None

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "Execution":
        """Read a record of Mistral's API."""
        words = str(record.get("description") or "").split()
        # Those that an earlier version has started have no due time.
        ours = len(words) in {3, 4} and words[0] == MARK.strip()
        return cls(
            id=str(record["id"]),
            cluster=words[1] if ours else "",
            key=words[2] if ours else "",
            work=str(record.get("workflow_name") or "").rpartition(".")[2],
            state=str(record.get("state") or ""),
            reason=str(record.get("state_info") or ""),
            due=int(words[3]) if ours and words[3:] and words[3].isdecimal() else None,
        )

    @property
    def ended(self) -> bool:
        """Whether nobody works at it any more."""
        return self.state in _ENDED

    @property
    def outlives_its_token(self) -> bool:
        """Whether it is at work, and its token ends: it has to be begun again with a new one."""
        return not self.ended and self.due is not None and time.time() > self.due

    def progress(self, *, removes: bool) -> Progress:
        """Return how far it is.

        Args:
            removes: Whether what it works on is gone in the end.
        """
        if self.outlives_its_token:
            return Progress(phase=Phase.INTERRUPTED, message="The workflow's token ends.")
        if not self.ended:
            return Progress(phase=Phase.RUNNING, message=f"Mistral's workflow {self.work} runs")
        if self.state == "SUCCESS":
            done = Phase.GONE if removes else Phase.DONE
            return Progress(phase=done, message=f"Mistral's workflow {self.work} has ended")
        if self.state == "CANCELLED" or _LOST in self.reason.lower():
            return Progress(phase=Phase.INTERRUPTED, message="Mistral broke off its workflow")
        return Progress(phase=Phase.FAILED, message=self.words()[:_LONGEST])

    def words(self) -> str:
        """Return the reason without Mistral's own additions."""
        found = [match["text"] for match in _MESSAGE.finditer(self.reason)]
        return redact("; ".join(dict.fromkeys(found)) or " ".join(self.reason.split()))


def description(cluster: str, key: str, seconds: int) -> str:
    """Return the description by which an execution is found again.

    Args:
        seconds: How long its token is good for.
    """
    return f"{MARK}{cluster} {key} {int(time.time()) + seconds}"
