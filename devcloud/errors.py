"""The one error that a user of devcloud gets to see."""


class DevcloudError(Exception):
    """Something the user can act on.

    Attributes:
        cause: One line that says what happened.
        remedy: One line that says what to do about it; may be empty.
    """

    def __init__(self, cause: str, remedy: str = "") -> None:
        """Keep the two lines apart so that callers may print them as they like."""
        super().__init__(f"{cause} {remedy}".strip())
        self.cause = cause
        self.remedy = remedy


class UsageError(DevcloudError):
    """The command or call itself is wrong; nothing was done."""
