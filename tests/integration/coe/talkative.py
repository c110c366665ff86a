"""A driver whose engine is made up, with routes that show what the core does with them."""

import time
from collections.abc import Sequence
from typing import ClassVar

from jeroboam.drivers.base import Provides
from jeroboam.drivers.coe_api import Access, CoeApi, CoeCall, Nothing, Route, SupportsCoeApi, Verb
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.errors import ClusterTimeoutError, ClusterUnreachableError, InvalidRequestError
from jeroboam.models import Model

SECRET = "the-private-key-of-the-cluster"


class Question(Model):
    """What can be asked."""

    words: str = "nothing"
    times: int = 1


class Said(Model):
    """What is answered."""

    said: tuple[str, ...]
    by: str


def echo(call: CoeCall, question: Question) -> Said:
    return Said(said=(question.words,) * question.times, by=call.caller.user_id)


def key(call: CoeCall, _: Nothing) -> Said:
    assert call.context.read_secrets().kubernetes.private_key
    return Said(said=(SECRET, call.api_address), by=call.arguments["name"])


def fail(call: CoeCall, _: Nothing) -> Said:
    match call.arguments["how"]:
        case "unreachable":
            raise ClusterUnreachableError("https://192.0.2.1 cannot be reached.")
        case "slow":
            raise ClusterTimeoutError("https://192.0.2.1 does not answer.")
        case "wrong":
            raise InvalidRequestError("That cannot be.")
        case "hang":
            time.sleep(1.5)
    raise RuntimeError(SECRET)


API = CoeApi(
    "chatter",
    (
        Route(Verb.GET, "words", "words", Access.READER, "Echo.", Said, echo, Question),
        Route(Verb.POST, "words", "say", Access.MEMBER, "Echo.", Said, echo, Question),
        Route(Verb.GET, "keys/{name}", "key", Access.OWNER, "A secret.", Said, key, Nothing),
        Route(Verb.GET, "failures/{how}", "fail", Access.READER, "Fail.", Said, fail, Nothing),
    ),
)


class TalkativeDriver(FakeDriver, SupportsCoeApi):
    """The fake driver, with routes."""

    name: ClassVar[str] = "talkative"

    @property
    def provides(self) -> Sequence[Provides]:
        return (Provides(server_type="vm", os="fake", coe="kubernetes"),)

    @property
    def coe_api(self) -> CoeApi:
        return API


class SecondTalkative(TalkativeDriver):
    """Another driver of the same engine; its routes are the same."""

    name: ClassVar[str] = "talkative_too"

    @property
    def provides(self) -> Sequence[Provides]:
        return (Provides(server_type="vm", os="twin", coe="kubernetes"),)


class Usurper(TalkativeDriver):
    """Wants a path of the core."""

    name: ClassVar[str] = "usurper"

    @property
    def coe_api(self) -> CoeApi:
        return CoeApi("actions", API.routes)


class Broken(TalkativeDriver):
    """Cannot even say what it adds."""

    name: ClassVar[str] = "broken"

    @property
    def coe_api(self) -> CoeApi:
        raise RuntimeError("no")
