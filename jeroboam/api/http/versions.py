"""Microversions: reading the request header, and the headers of the answer."""

from typing import NamedTuple

from starlette.exceptions import HTTPException

HEADER = "OpenStack-API-Version"
SERVICE = "container-infrastructure-management"
ACCEPTED_SERVICES = frozenset({SERVICE, "container-infrastructure", "container-infra"})
NOT_ACCEPTABLE = 406


class Microversion(NamedTuple):
    """A version of the API, ordered as numbers."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


MINIMUM = Microversion(1, 1)
MAXIMUM = Microversion(1, 14)

ASYNC_ROLLBACK = Microversion(1, 3)
RESIZE = Microversion(1, 7)
UPGRADE = Microversion(1, 8)
NODE_GROUPS = Microversion(1, 9)
ZERO_NODES = Microversion(1, 10)
CREDENTIALS = Microversion(1, 12)
CLUSTER_ID = Microversion(1, 13)


def parse(header: str | None) -> Microversion:
    """Read the request header; without one it is the oldest version.

    Whether the version is supported is another question: see ``supported``.

    Raises:
        HTTPException: 406, when the header cannot be understood or is for another service.
    """
    if header is None:
        return MINIMUM
    words = header.split()
    if len(words) != len(("service", "version")):
        raise _refuse("service type")
    service, version = words
    if version.lower() == "latest":
        return MAXIMUM
    if service not in ACCEPTED_SERVICES:
        raise _refuse("service type")
    return _numbers(version)


def supported(version: Microversion) -> bool:
    """Whether the API speaks ``version``."""
    return MINIMUM <= version <= MAXIMUM


def response_headers(version: Microversion) -> dict[str, str]:
    """Return the headers that each versioned answer carries."""
    return {
        "OpenStack-API-Minimum-Version": f"{SERVICE} {MINIMUM}",
        "OpenStack-API-Maximum-Version": f"{SERVICE} {MAXIMUM}",
        HEADER: f"{SERVICE} {version}",
        "Vary": HEADER,
    }


def _numbers(text: str) -> Microversion:
    parts = text.split(".")
    if len(parts) != len(Microversion._fields) or not all(_is_number(part) for part in parts):
        raise _refuse("value")
    return Microversion(int(parts[0]), int(parts[1]))


def _is_number(text: str) -> bool:
    # Longer numbers are no version, and int() refuses texts of thousands of digits.
    return text.isascii() and text.isdigit() and len(text) < len("1000000")


def _refuse(what: str) -> HTTPException:
    return HTTPException(NOT_ACCEPTABLE, f"Invalid {what} for {HEADER} header")
