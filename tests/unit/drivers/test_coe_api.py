"""Declarations of routes."""

from dataclasses import replace
from typing import Any

import pytest

from jeroboam.drivers.coe_api import CoeApi, route_of
from jeroboam.errors import DriverContractError, NotFoundError
from tests.integration.coe.talkative import API, TalkativeDriver


def test_a_good_one_passes() -> None:
    """It raises nothing."""
    API.check()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"path": "/words"}, "no path"),
        ({"path": "words/{cluster}"}, "no path"),
        ({"path": "words/{name}/{name}"}, "no path"),
        ({"path": "words//x"}, "no path"),
        ({"path": "words/../x"}, "no path"),
        ({"path": ""}, "no path"),
        ({"rule": "a:b"}, "policy rule"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else None,
)
def test_a_bad_route_is_named(changes: dict[str, Any], words: str) -> None:
    """The message holds what is wrong."""
    with pytest.raises(DriverContractError, match=words):
        CoeApi("chatter", (replace(API.routes[0], **changes),)).check()


def test_a_route_is_declared_once() -> None:
    """The second one would never be called."""
    with pytest.raises(DriverContractError, match="twice"):
        CoeApi("chatter", (API.routes[0], API.routes[0])).check()


@pytest.mark.parametrize("coe", ["", "a/b", "{x}", "Chatter", ".."])
def test_the_engine_is_a_part_of_a_path(coe: str) -> None:
    """Anything else could reach outside of it."""
    with pytest.raises(DriverContractError):
        CoeApi(coe, API.routes).check()


@pytest.mark.parametrize(
    ("coe", "verb", "path", "words"),
    [
        ("swarm", "GET", "words", "below 'chatter'"),
        ("chatter", "PUT", "words", "no PUT chatter/words"),
    ],
)
def test_what_a_driver_does_not_have_is_not_found(
    coe: str, verb: str, path: str, words: str
) -> None:
    """The message says what it has."""
    with pytest.raises(NotFoundError, match=words):
        route_of(TalkativeDriver(), coe, verb, path)
