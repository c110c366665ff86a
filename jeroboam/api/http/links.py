"""Absolute links, as Magnum writes them."""

from fastapi import Request

from jeroboam.api.http.schemas.base import Link


class Links:
    """Builds links to this API as the client sees it.

    Args:
        base: URL without a trailing slash and without the version.
    """

    def __init__(self, base: str) -> None:
        self.base = base

    @classmethod
    def of(cls, request: Request) -> "Links":
        """Return the links for a request: from the settings, else from the URL it came by."""
        configured = request.app.state.dependencies.settings.api_public_url
        return cls((configured or str(request.base_url)).rstrip("/"))

    def resource(self, *path: str) -> list[Link]:
        """Return the ``self`` and ``bookmark`` links of a resource."""
        tail = "/".join(path)
        return [
            Link(rel="self", href=f"{self.base}/v1/{tail}"),
            Link(rel="bookmark", href=f"{self.base}/{tail}"),
        ]

    def url(self, *path: str) -> str:
        """Return the URL of something under ``/v1``."""
        return f"{self.base}/v1/{'/'.join(path)}"
