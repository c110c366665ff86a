"""The URL by which a hook that said "later" gives its answer. Pure."""

import base64
import hashlib
import hmac
from collections.abc import Iterable, Iterator

from jeroboam.models import Action, Operation, PlanStep

PURPOSE = "hook callbacks"
"""What the key is derived for."""


class Callbacks:
    """Makes and checks the tokens of such URLs.

    A token is all that its bearer needs, and good for one step of one operation only.

    Args:
        key: Secret, the same in all processes.
        base_url: The API's URL as hooks reach it.
    """

    def __init__(self, key: bytes, base_url: str) -> None:
        self._key = key
        self._base_url = base_url.rstrip("/")

    def __repr__(self) -> str:
        return f"Callbacks({self._base_url})"

    def url(self, operation_id: str, step: str) -> str:
        """Return the URL for one step of an operation."""
        token = self._token(operation_id, step)
        return f"{self._base_url}/v1/operations/{operation_id}/hooks/{token}"

    def step(self, operation: Operation, token: str) -> PlanStep | None:
        """Return the step that a token is good for, if there is one."""
        found = None
        for step in _hook_steps(operation):
            # All are compared, so that the time tells nothing.
            expected = self._token(operation.uuid, step.name).encode()
            if hmac.compare_digest(expected, token.encode("utf-8", "replace")):
                found = step
        return found

    def _token(self, operation_id: str, step: str) -> str:
        text = f"{operation_id}\n{step}".encode()
        digest = hmac.new(self._key, text, hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _hook_steps(operation: Operation) -> Iterator[PlanStep]:
    if operation.plan is not None:
        every: Iterable[PlanStep] = (*operation.plan.steps, *operation.plan.on_failure)
        yield from (step for step in every if step.action is Action.RUN_HOOK)
