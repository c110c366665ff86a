"""Which routes of drivers are mounted, and which are left out."""

from dataclasses import replace
from typing import Any, ClassVar

from structlog.testing import capture_logs

from jeroboam.api.http import coe
from jeroboam.drivers.coe_api import Access, CoeApi
from jeroboam.drivers.fake.driver import FakeDriver
from tests.integration.coe.talkative import API, TalkativeDriver


class Other(TalkativeDriver):
    """Adds other routes."""

    name: ClassVar[str] = "other"

    def __init__(self, api: CoeApi) -> None:
        super().__init__()
        self._api = api

    @property
    def coe_api(self) -> CoeApi:
        return self._api


def mounted(*apis: CoeApi) -> tuple[list[tuple[str, str]], list[str]]:
    """Return what is mounted of drivers, and why the others are left out."""
    with capture_logs() as logs:
        found = coe.collect(
            [FakeDriver(), *map(Other, apis)], ["/v1/clusters/{cluster}/nodegroups"]
        )
    paths = [(one.coe, route.path) for one in found for route in one.routes]
    return paths, [line["reason"] for line in logs if line["event"] == "coe_api_left_out"]


def api(name: str, **changes: Any) -> CoeApi:
    return CoeApi(name, (replace(API.routes[0], **changes),))


def test_drivers_of_one_engine_share_routes() -> None:
    """Each adds what the others lack."""
    more = api("chatter", path="more")
    assert mounted(API, API, more) == (
        [*(("chatter", route.path) for route in API.routes), ("chatter", "more")],
        [],
    )


def test_the_core_keeps_its_paths_and_rules() -> None:
    """A driver can neither hide a route of the core, nor decide who may use it."""
    paths, reasons = mounted(api("nodegroups"), api("cluster", rule="get"))
    assert paths == []
    assert ["belongs to the core" in one for one in reasons] == [True, True]
    assert "policy rule cluster:get" in reasons[1]


def test_a_rule_is_for_the_same_people_everywhere() -> None:
    """Otherwise the order in which drivers are loaded would decide who may do something."""
    paths, reasons = mounted(api("chatter"), api("chatter", path="more", access=Access.OWNER))
    assert paths == [("chatter", "words")]
    assert "chatter:words is declared for reader and for owner" in reasons[0]
    paths, reasons = mounted(
        CoeApi("chatter", (API.routes[0], replace(API.routes[1], rule="words")))
    )
    assert (paths, len(reasons)) == ([], 1)
