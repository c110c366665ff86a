"""What webhooks, commands and callbacks answer, and what it means. Pure."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr, ValidationError

from jeroboam.errors import DriverContractError, HookRejectedError
from jeroboam.hooks.base import HookResult

LONGEST_REASON = 1000
MOST_LABELS = 100

LabelText = Annotated[StrictStr, Field(min_length=1, max_length=255)]


class Answer(BaseModel):
    """The JSON object that a hook answers with; ``{}`` lets the operation go on.

    Args:
        allow: Whether the operation may go on.
        reason: Why not, or a remark for the operation's record.
        labels: Labels to add to the cluster, before a create.
    """

    # A misspelt "allow" must not let an operation pass.
    model_config = ConfigDict(frozen=True, extra="forbid")

    allow: StrictBool = True
    reason: StrictStr = ""
    labels: Mapping[LabelText, LabelText] = Field(default_factory=dict, max_length=MOST_LABELS)

    def result(self, name: str, hidden: Sequence[str] = ()) -> HookResult:
        """Return what the engine makes of it.

        Args:
            name: Of the hook.
            hidden: Texts that must not be shown.

        Raises:
            HookRejectedError: The hook refuses.
        """
        reason = one_line(self.reason, hidden)
        if not self.allow:
            raise HookRejectedError(f"Hook '{name}' refuses: {reason or 'it gives no reason'}")
        return HookResult(message=reason, labels=self.labels)


def read(body: bytes, who: str) -> Answer:
    """Return the answer in a body; an empty one is like ``{}``.

    Args:
        who: For the message.

    Raises:
        DriverContractError: It is something else.
    """
    if not body.strip():
        return Answer()
    try:
        return Answer.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DriverContractError(
            f"{who} gives an answer that the hook contract does not know: "
            f"{f'{where}: ' if where else ''}{first['msg']}."
        ) from None


def one_line(text: str, hidden: Sequence[str] = ()) -> str:
    """Return text for a record: one line, bounded, without what must not be shown."""
    words = " ".join(without(text, hidden).split())
    shown = "".join(one if one.isprintable() else " " for one in words)
    return shown if len(shown) <= LONGEST_REASON else f"{shown[: LONGEST_REASON - 2]} …"


def without(text: str, hidden: Sequence[str]) -> str:
    """Return text in which secrets are blotted out."""
    for secret in hidden:
        text = text.replace(secret, "***")
    return text
