"""Bodies of the actions on a cluster, and the answers to them."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, Strict

from jeroboam.api.http.schemas.base import (
    Count,
    Positive,
    RequestModel,
    ResponseModel,
    ShortText,
)

MOST_NAMES = 10_000
"""The most nodes or node groups that one request may name."""

Names = Annotated[Sequence[ShortText], Field(max_length=MOST_NAMES)]
SomeNames = Annotated[Sequence[ShortText], Field(min_length=1, max_length=MOST_NAMES)]


class Resize(RequestModel):
    """Body of ``POST .../actions/resize``.

    ``nodes_to_remove`` holds names of nodes, ids of their servers, or their numbers in the group.
    """

    node_count: Count
    nodes_to_remove: Names | None = None
    nodegroup: ShortText | None = None


class Upgrade(RequestModel):
    """Body of ``POST .../actions/upgrade``."""

    cluster_template: ShortText
    max_batch_size: Positive | None = None
    nodegroup: ShortText | None = None


class NodeWork(RequestModel):
    """Which nodes to work on: all by default; ``batch_size`` null is all of a group at once.

    A list that is empty is refused, since a script whose list came out empty does not mean all.
    """

    node_groups: SomeNames | None = None
    nodes: SomeNames | None = None
    batch_size: Positive | None = 1


class Rebuild(NodeWork):
    """Body of ``POST .../actions/rebuild``."""


class Reboot(NodeWork):
    """Body of ``POST .../actions/reboot``; ``hard`` cuts the power."""

    type: Literal["soft", "hard"]


class CheckHealth(RequestModel):
    """Body of ``POST .../actions/check_health``; it has no attributes."""


class Accepted(ResponseModel):
    """The answer to a request that Magnum does not know: the cluster, and what works on it."""

    uuid: str
    operation_id: str


class OperationAnswer(Accepted):
    """The answer to a request about an operation; ``message`` says what will happen."""

    message: str


class Cancel(RequestModel):
    """Body of ``POST /v1/operations/{id}/cancel``; the reason goes into the record.

    With ``now`` it does not wait for the nodes at work of a rebuild or reboot, which may go on;
    also after a cancellation that waits. Other kinds do not wait anyhow.
    """

    now: Annotated[bool, Strict()] = False
    reason: Annotated[ShortText, Field(max_length=255)] | None = None


class Resume(RequestModel):
    """Body of ``POST /v1/operations/{id}/resume``.

    For an operation that waits for a hook's answer, ``approve`` is the answer; the message tells
    why not, or is a remark for the record.
    """

    approve: bool = True
    message: Annotated[ShortText, Field(max_length=255)] | None = None
