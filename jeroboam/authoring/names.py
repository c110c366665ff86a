"""What a driver is called, and what follows from it. Pure."""

import keyword
import re
from dataclasses import dataclass

from jeroboam.errors import InvalidRequestError

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_MAX_LENGTH = 60
_TAKEN = frozenset({"jeroboam", "tests", "templates"})


@dataclass(frozen=True)
class DriverName:
    """The name of a driver; also that of its folder, its package and its entry point."""

    text: str

    @classmethod
    def read(cls, text: str) -> "DriverName":
        """Check a name that a user has typed.

        Raises:
            InvalidRequestError: It cannot be the name of a driver; the message says what can.
        """
        if not _NAME.fullmatch(text) or len(text) > _MAX_LENGTH:
            raise InvalidRequestError(
                f"'{text}' cannot be the name of a driver. Use lower-case letters, digits and "
                f"single underscores, at most {_MAX_LENGTH}, with its major version at the end: "
                "k8s_flatcar_v1."
            )
        if text in _TAKEN or keyword.iskeyword(text):
            raise InvalidRequestError(f"'{text}' means something else. Choose another name.")
        return cls(text)

    @property
    def class_name(self) -> str:
        """The name of the driver's class: ``k8s_ubuntu_v1`` has ``K8sUbuntuV1Driver``."""
        return f"{''.join(part.capitalize() for part in self.text.split('_'))}Driver"

    @property
    def project(self) -> str:
        """The name of the distribution that it is packaged in."""
        return f"jeroboam-driver-{self.text.replace('_', '-')}"

    @property
    def variable(self) -> str:
        """What its environment variables begin with."""
        return self.text.upper()
