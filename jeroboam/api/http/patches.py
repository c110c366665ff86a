"""JSON patches as Magnum understands them: a subset, with rules of its own."""

import ast
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import StrictBool, StrictInt, StrictStr, StringConstraints, ValidationError

from jeroboam.api.http.schemas.base import RequestModel
from jeroboam.errors import InvalidRequestError

INTERNAL = frozenset({"created_at", "id", "links", "updated_at", "uuid", "project_id", "user_id"})
M = TypeVar("M", bound=RequestModel)
LITERALS = frozenset({"labels"})


class PatchOperation(RequestModel):
    """One operation of a patch."""

    path: Annotated[str, StringConstraints(pattern=r"^(/[\w-]+)+$")]
    op: Literal["add", "replace", "remove"]
    value: StrictStr | StrictBool | StrictInt | None = None

    @property
    def parts(self) -> Sequence[str]:
        """The steps of the path."""
        return self.path.removeprefix("/").split("/")

    @property
    def new_value(self) -> str | bool | int | None:
        """What the attribute becomes."""
        return None if self.op == "remove" else self.value


def apply(
    document: Mapping[str, Any],
    patch: Sequence[PatchOperation],
    *,
    mandatory: frozenset[str] = frozenset(),
    internal: frozenset[str] = INTERNAL,
    literals: frozenset[str] = LITERALS,
) -> dict[str, Any]:
    """Return a patched copy of ``document``.

    Args:
        document: Attributes, ``None`` where one is not set; labels are a mapping.
        mandatory: Attributes that cannot be removed.
        internal: Attributes that cannot be changed.
        literals: Attributes whose new value is the text of a mapping or a list.

    Raises:
        InvalidRequestError: An operation is not allowed, or does not fit the document.
    """
    patched = {key: dict(v) if isinstance(v, Mapping) else v for key, v in document.items()}
    for operation in patch:
        _check(operation, mandatory, internal)
        _apply_one(patched, operation, literals)
    return patched


def validated(model: type[M], patched: Mapping[str, Any]) -> M:
    """Return the model that a patched document is.

    Raises:
        RequestValidationError: It is none, said as for the body of a request.
    """
    try:
        return model.model_validate(dict(patched))
    except ValidationError as error:
        details = [
            {**detail, "loc": ("body", *detail["loc"])}
            for detail in error.errors(include_url=False)
        ]
        raise RequestValidationError(details) from error


def _check(operation: PatchOperation, mandatory: frozenset[str], internal: frozenset[str]) -> None:
    attribute = operation.path.removeprefix("/")
    if attribute in internal:
        raise InvalidRequestError(
            f"'{operation.path}' is an internal attribute and can not be updated"
        )
    if operation.op == "remove":
        if attribute in mandatory:
            raise InvalidRequestError(
                f"'{operation.path}' is a mandatory attribute and can not be removed"
            )
    elif operation.value is None:
        raise InvalidRequestError("'add' and 'replace' operations needs value")


def _apply_one(
    document: dict[str, Any], operation: PatchOperation, literals: frozenset[str]
) -> None:
    match operation.parts:
        case [attribute]:
            _change_attribute(document, attribute, operation, literals)
        case [attribute, key] if isinstance(document.get(attribute), dict):
            _change_key(document[attribute], key, operation)
        case _:
            raise _misfit(operation, "no such member")


def _change_attribute(
    document: dict[str, Any], attribute: str, operation: PatchOperation, literals: frozenset[str]
) -> None:
    if attribute not in document:
        if operation.op == "add":
            raise InvalidRequestError(
                f"Adding a new attribute {operation.path} to the root of the resource is not "
                "allowed."
            )
        raise _misfit(operation, "no such attribute")
    if operation.op == "add" and document[attribute] is not None:
        raise InvalidRequestError(
            f"The attribute {operation.path} has existed, please use 'replace' operation instead."
        )
    is_flag = isinstance(document[attribute], bool | None)
    if isinstance(operation.new_value, bool) and not is_flag:
        # Python, and so Magnum, would take it for the number 0 or 1.
        raise _misfit(operation, "the value is a boolean and the attribute is none")
    is_literal = attribute in literals and operation.op == "replace"
    document[attribute] = _literal(operation) if is_literal else operation.new_value


def _change_key(mapping: dict[str, Any], key: str, operation: PatchOperation) -> None:
    if operation.op != "add" and key not in mapping:
        raise _misfit(operation, "no such key")
    if operation.op == "remove":
        del mapping[key]
    else:
        mapping[key] = operation.new_value


def _literal(operation: PatchOperation) -> object:
    # Clients send a mapping as the text of a JSON or Python literal.
    for read in (json.loads, ast.literal_eval):
        try:
            return read(str(operation.value))
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
    raise _misfit(operation, "the value is no mapping or list")


def _misfit(operation: PatchOperation, reason: str) -> InvalidRequestError:
    return InvalidRequestError(
        f"Couldn't apply patch '{operation.op} {operation.path}'. Reason: {reason}"
    )
