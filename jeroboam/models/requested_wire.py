"""What starts an operation straight from Temporal: names, then the input, then the result.

Whoever may start workflows in the namespace sends this, in any language, by hand or by program. So
it has the names of the HTTP API, and says what is wrong with it. As in ``wire``: no field may ever
hold a secret.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID, uuid5

from pydantic import AfterValidator, Field, StringConstraints, TypeAdapter, ValidationError

from jeroboam.errors import InvalidRequestError
from jeroboam.models.base import Model
from jeroboam.models.kind import OperationKind

REQUEST_OPERATION_WORKFLOW = "RequestOperation"

MOST_NAMES = 10_000
SHOWN_VALUE_LENGTH = 100

_NAMESPACE = UUID("0c1f4d0a-7a51-4b56-9a5e-8f7f7f1d2b33")


def _canonical(text: str) -> str:
    return str(UUID(text))


def _refuse_nul(text: str) -> str:
    # PostgreSQL cannot store this character.
    if "\0" in text:
        raise ValueError("A text must not contain the character NUL")
    return text


ClusterId = Annotated[str, AfterValidator(_canonical)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=255), AfterValidator(_refuse_nul)]
Names = Annotated[tuple[Text, ...], Field(max_length=MOST_NAMES)]
SomeNames = Annotated[tuple[Text, ...], Field(min_length=1, max_length=MOST_NAMES)]
Count = Annotated[int, Field(ge=0, le=2**31 - 1, strict=True)]
Positive = Annotated[int, Field(ge=1, le=2**31 - 1, strict=True)]
Choice = Annotated[bool, Field(strict=True)]


class _Wanted(Model):
    """What all requests say.

    Args:
        cluster_id: uuid of the cluster; names are not unique over projects.
    """

    cluster_id: ClusterId


class WantedResize(_Wanted):
    """Give a node group another size; see ``POST .../actions/resize``."""

    operation: Literal["resize"]
    node_count: Count
    nodes_to_remove: Names = ()
    nodegroup: Text | None = None
    rollback: Choice | None = None


class WantedUpgrade(_Wanted):
    """Move a cluster to another template; see ``POST .../actions/upgrade``."""

    operation: Literal["upgrade"]
    cluster_template: Text
    max_batch_size: Positive | None = None
    nodegroup: Text | None = None
    rollback: Choice | None = None


class _WantedNodeWork(_Wanted):
    node_groups: SomeNames | None = None
    nodes: SomeNames | None = None
    batch_size: Positive | None = 1


class WantedRebuild(_WantedNodeWork):
    """Set nodes up anew; see ``POST .../actions/rebuild``."""

    operation: Literal["rebuild"]


class WantedReboot(_WantedNodeWork):
    """Reboot nodes; see ``POST .../actions/reboot``."""

    operation: Literal["reboot"]
    type: Literal["soft", "hard"]


class WantedCheck(_Wanted):
    """Check the health; see ``POST .../actions/check_health``."""

    operation: Literal["check_health"]


class WantedDelete(_Wanted):
    """Delete a cluster, over whatever happens to it; see ``DELETE /v1/clusters/{cluster}``."""

    operation: Literal["delete"]


Wanted = WantedResize | WantedUpgrade | WantedRebuild | WantedReboot | WantedCheck | WantedDelete

_ANY: TypeAdapter[Wanted] = TypeAdapter(Annotated[Wanted, Field(discriminator="operation")])

_KINDS: Mapping[str, OperationKind] = {
    "resize": OperationKind.RESIZE,
    "upgrade": OperationKind.UPGRADE,
    "rebuild": OperationKind.REBUILD,
    "check_health": OperationKind.CHECK_HEALTH,
    "delete": OperationKind.DELETE,
}
_REBOOTS = {"soft": OperationKind.SOFT_REBOOT, "hard": OperationKind.HARD_REBOOT}


def wanted(given: Any) -> Wanted:
    """Return what is wanted, of whatever was sent.

    Raises:
        InvalidRequestError: It is no request; the message says what is wrong first.
    """
    try:
        return _ANY.validate_python(given)
    except ValidationError as error:
        raise InvalidRequestError(_explained(error)) from None


def kind_of(request: Wanted) -> OperationKind:
    """Return the kind of operation that a request asks for."""
    if isinstance(request, WantedReboot):
        return _REBOOTS[request.type]
    return _KINDS[request.operation]


def operation_uuid(workflow_id: str, first_run_id: str) -> str:
    """Return the uuid of a request's operation: the same in every run of the same start."""
    return str(uuid5(_NAMESPACE, f"{workflow_id}:{first_run_id}"))


class AcceptRequestInput(Model):
    """The input of the activity that accepts a request.

    Args:
        operation_id: What the operation will be called; one that exists is not made again.
    """

    operation_id: str
    request: Wanted = Field(discriminator="operation")


class RequestedOperation(Model):
    """The result: what was begun.

    Args:
        workflow_id: Of the cluster's run, for those who want to wait for its end.
    """

    operation_id: str
    cluster_id: str
    workflow_id: str


def _explained(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    # The first part of the place names the variant, which is no field.
    place = [str(part) for part in first["loc"]]
    where = ".".join(place[1:]) or "operation"
    match first["type"]:
        case "union_tag_invalid" | "union_tag_not_found":
            names = "resize, upgrade, rebuild, reboot, check_health, delete"
            return f"The input needs the field 'operation', which is one of: {names}."
        case "model_attributes_type" | "dict_type" | "model_type":
            return "The input has to be one JSON object."
        case "extra_forbidden":
            return f"The input has an unknown field: '{where}'."
        case "missing":
            return f"The input lacks the field '{where}'."
    shown = str(first["input"])[:SHOWN_VALUE_LENGTH]
    return f"The input's field '{where}' is wrong: '{shown}'. {first['msg']}."
