"""What crosses the wire to Temporal for a request to the engine that runs in a cluster."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from jeroboam.models.base import Model, RunInput
from jeroboam.models.identity import Identity

CALL_COE_WORKFLOW = "CallCoe"


class CoeRequest(RunInput):
    """The input of the workflow and of its one activity; holds no secret.

    Args:
        path: As the driver declares it, with the names of its parameters.
        arguments: The parameters in the path.
        body: The input of the route.
        reply_to: The public key for which the answer is sealed; see ``jeroboam.sealing``.
    """

    request_id: str
    cluster_id: str
    caller: Identity
    coe: str
    verb: str
    path: str
    arguments: Mapping[str, str] = Field(default_factory=dict)
    body: Mapping[str, Any] = Field(default_factory=dict)
    reply_to: str = ""


class CoeAnswer(Model):
    """The answer, which only the process that asked can read: history keeps it."""

    sealed: str
