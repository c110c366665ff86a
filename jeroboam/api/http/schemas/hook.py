"""Hooks on the wire."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StrictBool, StrictStr

from jeroboam.api.http.links import Links
from jeroboam.api.http.schemas.base import (
    Link,
    ReadOnly,
    RequestModel,
    ResponseModel,
    ShortText,
    Text,
    Timestamp,
)
from jeroboam.hooks.answers import LabelText
from jeroboam.hooks.catalogue import Entry
from jeroboam.models import FailurePolicy, HookPhase, HookSource, OperationKind
from jeroboam.models.hook import HookScope

LONGEST_URL = 2048
LARGEST_OPTIONS = 16 * 1024
MOST_LABELS = 100


def _bounded(options: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        text = json.dumps(options, allow_nan=False)
    except (ValueError, RecursionError):
        raise ValueError("Options are plain JSON") from None
    if len(text) > LARGEST_OPTIONS or "\\u0000" in text:
        raise ValueError(f"Options have at most {LARGEST_OPTIONS} bytes, and no NUL")
    return options


Names = Annotated[Sequence[ShortText], Field(max_length=100)]
Url = Annotated[Text, Field(min_length=1, max_length=LONGEST_URL)]
Options = Annotated[Mapping[str, Any], AfterValidator(_bounded)]


class HookAttributes(RequestModel):
    """What an administrator may say of a hook; ``null`` stands for the default.

    ``secret`` goes in and never comes out.
    """

    hook: ShortText | None = None
    phases: Sequence[HookPhase] | None = None
    operations: Sequence[OperationKind] | None = None
    scope: HookScope | None = None
    scope_id: ShortText | None = None
    runs_after: Names | None = None
    timeout_seconds: int | None = None
    on_failure: FailurePolicy | None = None
    enabled: StrictBool | None = None
    options: Options | None = None
    url: Url | None = None
    # Checked elsewhere: a complaint of this model would quote what was given.
    secret: Any = Field(default=None, repr=False, json_schema_extra={"type": "string"})

    def given(self) -> dict[str, Any]:
        """Return what the request says, but the secret."""
        return self.model_dump(exclude_unset=True, exclude={"secret"})


class HookCreate(HookAttributes):
    """Body of ``POST /v1/hooks``."""

    name: ShortText
    source: HookSource
    argv: Sequence[Text] | None = None
    uuid: ReadOnly = None
    created_at: ReadOnly = None
    updated_at: ReadOnly = None


class HookPatch(HookAttributes):
    """Body of ``PATCH /v1/hooks/{ident}``: what shall change."""

    name: ShortText | None = None


class HookBody(ResponseModel):
    """A hook as administrators see it, with the values in force.

    ``origin`` is ``api``, ``file`` (the operator's) or ``installed``; only the first can be
    changed here.
    """

    uuid: str | None
    name: str
    origin: str
    source: HookSource
    hook: str | None
    phases: Sequence[HookPhase]
    operations: Sequence[OperationKind]
    scope: HookScope
    scope_id: str | None
    runs_after: Sequence[str]
    timeout_seconds: int
    on_failure: FailurePolicy
    enabled: bool
    options: Mapping[str, Any]
    url: str | None
    created_at: Timestamp | None
    updated_at: Timestamp | None
    links: list[Link]

    @classmethod
    def of(cls, entry: Entry, links: Links) -> "HookBody":
        """Return the body of a hook."""
        declared = entry.declaration
        return cls(
            uuid=declared.uuid if declared else None,
            name=entry.name,
            origin=entry.origin,
            source=entry.source,
            hook=entry.installed.name if entry.installed else None,
            phases=[phase for phase in HookPhase if phase in entry.phases],
            operations=[kind for kind in OperationKind if kind in entry.operations],
            scope=declared.scope if declared else HookScope.ALL,
            scope_id=declared.scope_id if declared else None,
            runs_after=(*entry.installed_runs_after, *entry.runs_after),
            timeout_seconds=entry.timeout_seconds,
            on_failure=entry.on_failure,
            enabled=entry.enabled,
            options=declared.options if declared else {},
            url=declared.url if declared else None,
            created_at=declared.created_at if declared and not entry.in_file else None,
            updated_at=declared.updated_at if declared else None,
            links=links.resource("hooks", entry.name),
        )


class HookList(ResponseModel):
    """All hooks."""

    hooks: Sequence[HookBody]


class LateAnswer(RequestModel):
    """Body of a late answer of a hook."""

    allow: StrictBool
    reason: Annotated[StrictStr, Field(max_length=4000)] = ""
    labels: Annotated[Mapping[LabelText, LabelText], Field(max_length=MOST_LABELS)] = Field(
        default_factory=dict
    )
