"""Tells of what is deprecated in the selection of a driver: once in the log, and in the answer."""

from collections import OrderedDict

import structlog
from fastapi import Response

from jeroboam.api.http.directory import Image
from jeroboam.drivers.registry import Selection

WARNING_HEADER = "Warning"
"""HTTP's own, with the code 299 for lasting trouble; clients that do not know it pass over it."""

MOST_REMEMBERED = 10_000

log = structlog.get_logger(__name__)


class Warnings:
    """Remembers which images were complained of, so that the log has each only once."""

    def __init__(self) -> None:
        self._told: OrderedDict[tuple[str, str], None] = OrderedDict()

    def log(self, image: Image, selection: Selection) -> None:
        """Log what is deprecated about an image, unless that was done before."""
        for warning in selection.warnings:
            key = (image.id, warning)
            if key in self._told:
                continue
            self._told[key] = None
            if len(self._told) > MOST_REMEMBERED:
                self._told.popitem(last=False)
            log.warning("driver_selection_deprecated", image=image.id, warning=warning)


def put_into(response: Response, selection: Selection | None) -> None:
    """Add the warnings to an answer's headers."""
    for warning in selection.warnings if selection else ():
        quoted = warning.replace("\\", "\\\\").replace('"', '\\"')
        response.headers.append(WARNING_HEADER, f'299 jeroboam "{quoted}"')
