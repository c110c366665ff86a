"""Every error that Jeroboam raises on purpose.

``retryable`` says whether the same call may succeed later without anybody changing anything; the
HTTP status belongs to the API alone. The message is for the user: what is wrong and what to do.
"""

from collections.abc import Mapping
from typing import ClassVar


class JeroboamError(Exception):
    """Base of all; a bare one is a defect.

    Args:
        message: One or two sentences for the user.
        faults: Evidence by resource or node, for example Heat's failed resources.
    """

    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, faults: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.faults = dict(faults or {})


class InvalidRequestError(JeroboamError):
    """The request can never succeed as it stands."""


class NotAuthorizedError(JeroboamError):
    """The caller is known and may not do this."""


class NotFoundError(JeroboamError):
    """The thing named does not exist, or is not the caller's to see."""


class AmbiguousNameError(JeroboamError):
    """More than one thing has this name."""


class ConflictError(JeroboamError):
    """The thing's state forbids the request now."""


class OperationInProgressError(ConflictError):
    """Another operation holds the cluster.

    Args:
        operation_id: The running operation.
        kind: What it does.
        step: The step at work, if it has begun.
    """

    def __init__(self, operation_id: str, kind: str, step: str | None) -> None:
        where = f", now at step '{step}'" if step else ""
        super().__init__(
            f"Operation {operation_id} ({kind}) is in progress on this cluster{where}. "
            "Wait until it has ended, or delete the cluster."
        )
        self.operation_id = operation_id
        self.kind = kind
        self.step = step


class OperationEndedError(ConflictError):
    """The operation has ended, or another run works on it: this one must touch nothing."""


class QuotaExceededError(JeroboamError):
    """A quota of Jeroboam or of the cloud is used up."""


class TooManyOperationsError(QuotaExceededError):
    """As many operations of the project are at work as may be; a schedule waits for its turn."""


class DriverNotFoundError(JeroboamError):
    """No enabled driver fits, or the one named is unknown or disabled."""


class AmbiguousDriverError(JeroboamError):
    """More than one driver fits and nothing says which to take."""


class DriverContractError(JeroboamError):
    """A driver or hook broke the contract, or could not be loaded."""


class DriverNotInstalledError(DriverContractError):
    """A driver whose own requirements, an optional extra, were not installed."""


class HookRejectedError(JeroboamError):
    """A hook refused the operation; the message holds its reason."""


class BackendFailedError(JeroboamError):
    """The backend (Heat, ...) tried and gave up; the message holds its own reason."""


class CloudUnavailableError(JeroboamError):
    """A service of the cloud does not answer, or answers 5xx."""

    retryable = True


class RateLimitedError(CloudUnavailableError):
    """A service of the cloud asks to slow down.

    Args:
        retry_after_seconds: The pause that the service asked for.
    """

    def __init__(self, message: str, retry_after_seconds: float = 10.0) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class ClusterUnreachableError(JeroboamError):
    """The API of a cluster cannot be reached, is another one's, or refuses Jeroboam."""

    retryable = True


class ClusterTimeoutError(ClusterUnreachableError):
    """The API of a cluster took too long."""


class NodesNotEmptyError(JeroboamError):
    """Nodes that shall go have pods that have not left yet, or may not be disturbed."""

    retryable = True


class StoreUnavailableError(JeroboamError):
    """Jeroboam's own database does not answer, or asks to try again."""

    retryable = True


class CredentialRejectedError(JeroboamError):
    """The cloud refuses the credentials that Jeroboam holds for a cluster."""


class WorkerStoppingError(JeroboamError):
    """The worker shuts down in the middle of a wait; another one takes it over."""

    retryable = True


class ConfigurationError(JeroboamError):
    """The operator's settings are wrong; the message names the setting."""
