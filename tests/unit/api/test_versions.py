"""Reading the microversion header."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException

from jeroboam.api.http import versions
from jeroboam.api.http.versions import MAXIMUM, MINIMUM, Microversion


def test_no_header_means_the_oldest_version() -> None:
    """A client that sends no header gets 1.1."""
    assert versions.parse(None) == MINIMUM == (1, 1)


@pytest.mark.parametrize(
    "service", ["container-infra", "container-infrastructure", versions.SERVICE]
)
def test_every_name_of_the_service_is_understood(service: str) -> None:
    """The short name, the middle one and the long one are the same service."""
    assert versions.parse(f"{service} 1.9") == (1, 9)


@pytest.mark.parametrize("word", ["latest", "LATEST"])
def test_latest_is_the_newest_version(word: str) -> None:
    """``latest`` gives the highest version, in any case of letters."""
    assert versions.parse(f"container-infra {word}") == MAXIMUM == (1, 14)


@pytest.mark.parametrize(
    "header", ["1.9", "", "nova 1.9", "container-infra 1.9 x", "container-infra, 1.9, x"]
)
def test_another_service_is_refused(header: str) -> None:
    """A value without the service's name, or with another one, is not acceptable."""
    with pytest.raises(HTTPException) as refused:
        versions.parse(header)
    assert refused.value.status_code == 406
    assert refused.value.detail == "Invalid service type for OpenStack-API-Version header"


@pytest.mark.parametrize("text", ["1", "1.", "1.2.3", "a.b", "-1.2", "1.²", "1." + "9" * 5000])
def test_no_number_is_refused(text: str) -> None:
    """A value that is no version is not acceptable, however odd it is."""
    with pytest.raises(HTTPException) as refused:
        versions.parse(f"container-infra {text}")
    assert refused.value.detail == "Invalid value for OpenStack-API-Version header"


def test_support_ends_at_the_limits() -> None:
    """The lowest and the highest version are spoken, their neighbours are not."""
    assert versions.supported(MINIMUM)
    assert versions.supported(MAXIMUM)
    assert not versions.supported(Microversion(1, 0))
    assert not versions.supported(Microversion(1, 15))
    assert not versions.supported(Microversion(2, 1))


@given(major=st.integers(0, 9999), minor=st.integers(0, 9999))
def test_a_version_survives_its_text(major: int, minor: int) -> None:
    """What is written as a version is read as that version."""
    version = Microversion(major, minor)
    assert versions.parse(f"container-infra {version}") == version


@given(st.text())
def test_any_header_is_a_version_or_a_refusal(header: str) -> None:
    """No text makes the parser fail in another way."""
    with contextlib.suppress(HTTPException):
        assert isinstance(versions.parse(header), Microversion)


def test_answers_carry_the_long_name() -> None:
    """All three headers name the service in full, whatever name the request used."""
    headers = versions.response_headers(Microversion(1, 9))
    assert headers == {
        "OpenStack-API-Minimum-Version": "container-infrastructure-management 1.1",
        "OpenStack-API-Maximum-Version": "container-infrastructure-management 1.14",
        "OpenStack-API-Version": "container-infrastructure-management 1.9",
        "Vary": "OpenStack-API-Version",
    }
