"""What can go wrong between the command line and the service, in words for who typed it."""

from typing import ClassVar

from jeroboam.errors import JeroboamError

LOG_IN = (
    "Log in: choose a cloud of your clouds.yaml with --os-cloud or OS_CLOUD, or set OS_AUTH_URL, "
    "OS_USERNAME, OS_PASSWORD and OS_PROJECT_NAME."
)


class NotLoggedInError(JeroboamError):
    """The credentials are missing, wrong or no longer valid."""

    def __init__(self, cause: str) -> None:
        super().__init__(f"{cause} {LOG_IN}")


class RequestRefusedError(JeroboamError):
    """The service understood the request and refuses it.

    Args:
        status: The HTTP status.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class ServiceUnreachableError(JeroboamError):
    """The service does not answer, or says that it cannot serve now."""

    retryable: ClassVar[bool] = True


class UsageError(JeroboamError):
    """The arguments do not fit together."""
