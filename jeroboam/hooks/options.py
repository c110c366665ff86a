"""Checks the options of a hook's declaration."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from jeroboam.errors import InvalidRequestError

Options = TypeVar("Options", bound=BaseModel)


def parsed(
    model: type[Options], given: Mapping[str, Any], hook: str, *, example: str = ""
) -> Options:
    """Return the options.

    Args:
        hook: Name of the hook, for the message.
        example: What helps somebody whose options are refused.

    Raises:
        InvalidRequestError: It names the first option that does not fit.
    """
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        message = f"Option '{where}' of the hook {hook}: {first['msg']}."
        raise InvalidRequestError(f"{message} {example}".strip()) from None
