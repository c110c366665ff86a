"""Routes that cross to another process as a description."""

from dataclasses import replace
from enum import StrEnum
from typing import Any

import pytest
from pydantic import Field, ValidationError

from jeroboam.drivers.coe_api import CoeApi
from jeroboam.drivers.described_models import model_of, schema_of
from jeroboam.drivers.described_routes import describe, restored
from jeroboam.drivers.kubernetes.api import KUBERNETES_API
from jeroboam.drivers.mesos.api import MESOS_API
from jeroboam.drivers.swarm.api import SWARM_API
from jeroboam.errors import DriverContractError
from jeroboam.models import Model
from jeroboam.models.driver_wire import CoeApiDescription
from tests.integration.coe.talkative import API as CHATTER


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Part(Model):
    weight: float = Field(gt=0)
    parts: tuple["Part", ...] = ()


class Wish(Model):
    """What somebody wants."""

    name: str = Field(pattern="^[a-z]+$", max_length=5)
    copy_: bool = Field(default=False, alias="copy")
    colour: Colour = Colour.RED
    number: int | None = Field(default=None, ge=1, le=9)
    words: tuple[str, ...] = Field(default=(), max_length=2)
    part: Part | None = None


def again() -> type[Model]:
    return model_of(schema_of(Wish), "elsewhere")


@pytest.mark.parametrize(
    "api",
    [CHATTER, KUBERNETES_API, SWARM_API, MESOS_API],
    ids=["chatter", "kubernetes", "swarm", "mesos"],
)
def test_a_description_of_what_was_described_is_the_same(api: CoeApi) -> None:
    """So drivers of one engine share routes, wherever they run."""
    told = describe(api)
    crossed = CoeApiDescription.model_validate_json(told.model_dump_json())
    assert describe(restored(crossed, "far")) == told


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"name": "Upper"},
        {"name": "toolong"},
        {"name": "a", "copy": "perhaps"},
        {"name": "a", "copy_": True},
        {"name": "a", "colour": "green"},
        {"name": "a", "number": 10},
        {"name": "a", "words": ["a", "b", "c"]},
        {"name": "a", "more": 1},
    ],
    ids=str,
)
def test_fields_are_checked_here(wrong: dict[str, Any]) -> None:
    """A wrong request never leaves the API."""
    with pytest.raises(ValidationError):
        Wish.model_validate(wrong)
    with pytest.raises(ValidationError):
        again().model_validate(wrong)


def test_what_was_said_arrives_as_it_was_said() -> None:
    """Defaults are left to the driver."""
    said = {"name": "a", "copy": True, "colour": "blue", "number": None, "words": ["b"]}
    wish = again().model_validate(said | {"part": {"weight": 1.5}})
    dumped = wish.model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert dumped == said | {"part": {"weight": 1.5}}
    assert Wish.model_validate(dumped).part == Part(weight=1.5)


def test_handlers_are_elsewhere() -> None:
    """A call of one here is a mistake that says so."""
    route = restored(describe(CHATTER), "far").routes[0]
    call: Any = None
    with pytest.raises(DriverContractError, match="'far' runs in a worker of its own"):
        route.handler(call, route.request())


@pytest.mark.parametrize(
    "changes", [{"verb": "BREW"}, {"access": "anybody"}, {"request": {"properties": 1}}], ids=str
)
def test_nonsense_is_refused(changes: dict[str, Any]) -> None:
    """One driver's worker cannot break the API."""
    told = describe(CHATTER)
    first = told.routes[0].model_copy(update=changes)
    with pytest.raises(DriverContractError, match="tells of its routes cannot be used"):
        restored(told.model_copy(update={"routes": (first,)}), "far")


def test_only_what_could_be_mounted_is_told() -> None:
    """The driver's own worker says what is wrong."""
    bad = CoeApi("chatter", (replace(CHATTER.routes[0], path="/words"),))
    with pytest.raises(DriverContractError, match="no path"):
        describe(bad)
