"""List parameters, the same for all lists."""

import pytest

from jeroboam.models import new_uuid
from tests.integration.api.conftest import BASE, Service, error_of

LISTS = ["/v1/clustertemplates", "/v1/clustertemplates/detail", "/v1/clusters/detail"]


async def three(service: Service) -> list[str]:
    return [(await service.template(name=name))["uuid"] for name in ("b", "c", "a")]


@pytest.mark.parametrize("path", [*LISTS, "/v1/clusters"])
@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("limit=0", "Limit must be positive"),
        ("limit=-1", "Limit must be positive"),
        ("limit=many", "field/attribute limit"),
        ("limit=", "field/attribute limit"),
        ("marker=first", "Expected a uuid but received first"),
        ("sort_dir=up", "Invalid sort direction: up"),
        ("sort_key=colour", "sort key value 'colour' is invalid"),
        ("sort_key=labels", "sort key value 'labels' is invalid"),
        ("all_tenants=1", 'Unknown argument: "all_tenants"'),
        ("role=worker", 'Unknown argument: "role"'),
    ],
)
async def test_bad_arguments_are_400(service: Service, path: str, query: str, message: str) -> None:
    """Each bad argument is told in Magnum's words."""
    response = await service.call("GET", f"{path}?{query}")
    assert response.status_code == 400
    assert message in error_of(response)["detail"]


@pytest.mark.parametrize("path", [*LISTS, "/v1/clusters"])
async def test_an_unknown_marker_is_404(service: Service, path: str) -> None:
    """A marker must be one of the list."""
    response = await service.call("GET", f"{path}?marker={new_uuid()}")
    assert response.status_code == 404


@pytest.mark.parametrize(
    "path",
    ["/v1/clusters/x?y=1", "/v1/clustertemplates/x?y=1", "/v1/mservices?y=1"],
)
async def test_single_resources_have_no_arguments(service: Service, path: str) -> None:
    """Unknown arguments are refused on all routes."""
    assert (await service.call("GET", path)).status_code == 400


async def test_lists_sort_and_page(service: Service) -> None:
    """Following ``next`` from page to page visits everything once, in order."""
    uuids = await three(service)
    visited: list[str] = []
    url = f"{BASE}/v1/clustertemplates?limit=1&sort_key=name&sort_dir=desc"
    for _ in range(len(uuids) + 1):
        page = (await service.call("GET", url)).json()
        visited += [template["name"] for template in page["clustertemplates"]]
        if "next" not in page:
            break
        url = page["next"]
        assert "sort_key=name&sort_dir=desc&limit=1&marker=" in url
    assert visited == ["c", "b", "a"]


async def test_the_order_is_that_of_creation_by_default(service: Service) -> None:
    """Without arguments the oldest comes first and there is no next page."""
    uuids = await three(service)
    page = (await service.call("GET", "/v1/clustertemplates")).json()
    assert [template["uuid"] for template in page["clustertemplates"]] == uuids
    assert page.keys() == {"clustertemplates"}


async def test_a_full_page_has_a_next_link_even_when_it_is_the_last(service: Service) -> None:
    """As in Magnum, ``next`` means a full page; the page behind it may be empty."""
    await three(service)
    page = (await service.call("GET", "/v1/clustertemplates?limit=3")).json()
    last = (await service.call("GET", page["next"])).json()
    assert last == {"clustertemplates": []}


async def test_the_operator_s_limit_wins(service: Service) -> None:
    """No page is longer than the operator allows, whatever the client asks for."""
    for number in range(6):
        await service.template(name=f"t{number}")
    for query in ("", "?limit=6", f"?limit={10**30}"):
        page = (await service.call("GET", f"/v1/clustertemplates{query}")).json()
        assert len(page["clustertemplates"]) == 5
        assert "limit=5" in page["next"]


async def test_details_page_within_the_details(service: Service) -> None:
    """The next page of a detailed list is detailed, and the role of node groups is kept."""
    template = await service.template()
    for name in ("one", "two"):
        await service.cluster(template["uuid"], name=name)
    page = (await service.call("GET", "/v1/clusters/detail?limit=1")).json()
    assert page["next"].startswith(f"{BASE}/v1/clusters/detail?")
    page = (await service.call("GET", "/v1/clusters/one/nodegroups?limit=1&role=master")).json()
    rest = (await service.call("GET", page["next"])).json()
    assert rest == {"nodegroups": []}
