"""Refuses requests whose URL or headers cannot be worked with, before anything reads them."""

from starlette.types import ASGIApp, Receive, Scope, Send

from jeroboam.api.http.errors import error_response

BAD_REQUEST = 400
URL_TOO_LONG = 414
HEADERS_TOO_LARGE = 431

LONGEST_URL = 8 * 1024
LARGEST_HEADERS = 32 * 1024
MOST_HEADERS = 100


class HeadMiddleware:
    """Limits URL and headers; all that is refused here is refused before the token is looked at."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        refusal = _refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            status, message = refusal
            await error_response(status, message)(scope, receive, send)


def _refusal(scope: Scope) -> tuple[int, str] | None:
    if len(scope["raw_path"]) + len(scope["query_string"]) > LONGEST_URL:
        return URL_TOO_LONG, f"The URL is longer than {LONGEST_URL} bytes."
    # PostgreSQL cannot store this character, nor look for it.
    if "\0" in scope["path"] or b"%00" in scope["query_string"] or b"\0" in scope["query_string"]:
        return BAD_REQUEST, "The URL has the character NUL."
    headers = scope["headers"]
    size = sum(len(name) + len(value) for name, value in headers)
    if len(headers) > MOST_HEADERS or size > LARGEST_HEADERS:
        return (
            HEADERS_TOO_LARGE,
            f"The request has more than {MOST_HEADERS} headers or {LARGEST_HEADERS} bytes of them.",
        )
    return None
