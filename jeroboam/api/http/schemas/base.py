"""What all schemas share."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
)

LARGEST_INTEGER = 2**31 - 1


class RequestModel(BaseModel):
    """A request body; unknown attributes are refused, as Magnum does."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ResponseModel(BaseModel):
    """A response body; what is not set is left out."""

    model_config = ConfigDict(frozen=True)

    def body(self) -> dict[str, Any]:
        """Return what goes over the wire."""
        return self.model_dump(mode="json", exclude_unset=True)


class Link(ResponseModel):
    """A link."""

    href: str
    rel: str
    type: str | None = None


def _refuse_nul(text: str) -> str:
    # PostgreSQL cannot store this character, so it must not get past the API.
    if "\0" in text:
        raise ValueError("A text must not contain the character NUL")
    return text


def _refuse_write(_: object) -> object:
    raise ValueError("Cannot set read only field.")


def _as_label_value(value: object) -> str:
    if isinstance(value, str | int | float):
        return str(value)
    raise ValueError(
        f"Wrong type. Expected text, integer, boolean or float, got '{type(value).__name__}'"
    )


def _none_to_empty(value: object) -> object:
    return {} if value is None else value


Text = Annotated[str, AfterValidator(_refuse_nul)]
ShortText = Annotated[
    str, StringConstraints(min_length=1, max_length=255), AfterValidator(_refuse_nul)
]
Count = Annotated[int, Field(ge=0, le=LARGEST_INTEGER)]
Positive = Annotated[int, Field(ge=1, le=LARGEST_INTEGER)]
Labels = Annotated[
    Mapping[ShortText, Annotated[Text, BeforeValidator(_as_label_value)]],
    BeforeValidator(_none_to_empty),
]
ReadOnly = Annotated[Any, BeforeValidator(_refuse_write)]
"""An attribute that only the server sets."""
Ignored = Any
"""An attribute that Magnum accepts and does not use."""
Timestamp = Annotated[
    datetime, PlainSerializer(lambda value: value.isoformat(timespec="seconds"), return_type=str)
]
