"""What Ansible's events say to people who wait. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from jeroboam.drivers.openstack import redact

_LONGEST = 300
_ERROR = ("ERROR", "[ERROR]")
_FAILED = frozenset({"runner_on_failed", "runner_on_unreachable", "runner_item_on_failed"})


class Watcher:
    """Turns events into one line of progress, and keeps the reasons of failures by host.

    Args:
        tell: Takes the line.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._task = ""
        self._done: set[str] = set()
        self.failures: dict[str, str] = {}

    def take(self, event: Mapping[str, Any]) -> bool:
        """Take one event; ansible-runner need not keep it."""
        kind = str(event.get("event") or "")
        data = event.get("event_data") or {}
        if kind == "playbook_on_task_start":
            self._task, self._done = str(data.get("task") or ""), set()
            self._tell(self._task)
        elif kind == "runner_on_ok":
            self._done.add(str(data.get("host") or ""))
            self._tell(f"{self._task}: {len(self._done)} done")
        elif kind in _FAILED and not data.get("ignore_errors"):
            self._fail(str(data.get("host") or "ansible"), data)
        return False

    def _fail(self, host: str, data: Mapping[str, Any]) -> None:
        result = data.get("res") or {}
        reason = result.get("censored") and "it failed; its output is kept secret"
        text = str(reason or result.get("msg") or "it failed without a reason")
        said = redact(" ".join(text.split()))[:_LONGEST]
        self.failures.setdefault(host, f"{data.get('task')}: {said}")


def last_error(output: str) -> str:
    """Return why Ansible ended without having come to any task, in its own words."""
    lines = [line.strip() for line in output.splitlines() if line.startswith(_ERROR)]
    return redact(lines[-1])[:_LONGEST] if lines else "it ended without a reason"
