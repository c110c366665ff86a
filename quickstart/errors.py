"""What a user of the quickstart can meet."""


class QuickstartError(Exception):
    """Something hinders the quickstart.

    Args:
        cause: One line that says what happened.
        remedy: What to do about it; may be empty.
    """

    def __init__(self, cause: str, remedy: str = "") -> None:
        super().__init__(f"{cause} {remedy}".strip())
        self.cause = cause
        self.remedy = remedy
