"""Counts defects: unexpected exceptions of activities, which seldom mend themselves."""

from collections import OrderedDict

DEFECT_ATTEMPTS = 5
"""How often an unexpected exception is retried."""

MOST_COUNTED = 10_000


class Defects:
    """The defects of this process's activities that are being retried.

    Temporal counts all attempts alike; those that met a database or a cloud that did not answer
    say nothing about a defect. Another worker begins to count anew, and so does this one when it
    was restarted, so the number is the least and not the most.
    """

    def __init__(self) -> None:
        self._counts: OrderedDict[tuple[str, str], int] = OrderedDict()

    def is_hopeless(self, run_id: str, activity_id: str) -> bool:
        """Count a defect of an activity; return whether it was the last one to be retried."""
        key = (run_id, activity_id)
        count = self._counts.pop(key, 0) + 1
        if count >= DEFECT_ATTEMPTS:
            return True
        self._counts[key] = count
        if len(self._counts) > MOST_COUNTED:
            self._counts.popitem(last=False)
        return False
