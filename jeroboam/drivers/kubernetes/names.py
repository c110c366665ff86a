"""Names of Kubernetes objects as they stand in paths."""

import re

from jeroboam.errors import InvalidRequestError

_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")


def checked(noun: str, name: str) -> str:
    """Return a name that is safe in a path.

    Raises:
        InvalidRequestError: No object can be called so.
    """
    if not _NAME.fullmatch(name) or ".." in name:
        raise InvalidRequestError(f"'{name}' is no name of a {noun}.")
    return name
