"""Sealed answers."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.errors import InvalidRequestError
from jeroboam.sealing import Envelope, seal


@given(st.binary(max_size=2000))
def test_only_the_addressee_reads_it(plaintext: bytes) -> None:
    """Whoever asked gets it back; another envelope does not."""
    mine, other = Envelope(), Envelope()
    sealed = seal(mine.address, plaintext)
    assert mine.open(sealed) == plaintext
    with pytest.raises(InvalidRequestError):
        other.open(sealed)


def test_it_is_not_readable_on_its_way() -> None:
    """Neither the text nor the same bytes twice."""
    mine = Envelope()
    first, second = seal(mine.address, b"secret"), seal(mine.address, b"secret")
    assert first != second
    assert b"secret" not in base64.b64decode(first)


@pytest.mark.parametrize("place", [0, 31, 40, -1])
def test_an_altered_one_is_refused(place: int) -> None:
    """Whatever byte was changed."""
    mine = Envelope()
    raw = bytearray(base64.b64decode(seal(mine.address, b"secret")))
    raw[place] ^= 1
    with pytest.raises(InvalidRequestError):
        mine.open(base64.b64encode(raw).decode())


@pytest.mark.parametrize("address", ["", "x", base64.b64encode(bytes(3)).decode(), "ä"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    """The worker says so instead of answering in the clear."""
    with pytest.raises(InvalidRequestError):
        seal(address, b"secret")


def test_a_key_of_zeros_is_refused() -> None:
    """A point of small order would make the key known to all."""
    with pytest.raises(InvalidRequestError):
        seal(base64.b64encode(bytes(32)).decode(), b"secret")


def test_an_address_can_last() -> None:
    """The same key gives the same address, and opens what was sealed to it before."""
    sealed = seal(Envelope(bytes(32)).address, b"secret", "cluster 1")
    assert Envelope(bytes(32)).open(sealed, "cluster 1") == b"secret"


def test_what_it_belongs_to_counts() -> None:
    """Something sealed for one thing cannot be passed off as another one's."""
    mine = Envelope()
    with pytest.raises(InvalidRequestError):
        mine.open(seal(mine.address, b"secret", "cluster 1"), "cluster 2")
