"""Federations: there are none, and a request for one is refused instead of lost."""

from typing import Any

import pytest

from jeroboam.models import new_uuid
from tests.integration.api.conftest import Service, error_of

GOOD: dict[str, Any] = {
    "name": "mine",
    "member_ids": [],
    "properties": {"dns-zone": "example.com."},
}


@pytest.mark.parametrize("path", ["/v1/federations", "/v1/federations/detail"])
async def test_lists_are_empty(service: Service, path: str) -> None:
    """A list has Magnum's shape, and checks its arguments as the others do."""
    assert (await service.call("GET", path)).json() == {"federations": []}
    assert (await service.call("GET", f"{path}?limit=2&sort_key=name")).json() == {
        "federations": []
    }
    for query, status in (("limit=0", 400), ("sort_key=colour", 400), ("x=1", 400)):
        assert (await service.call("GET", f"{path}?{query}")).status_code == status
    marker = await service.call("GET", f"{path}?marker={new_uuid()}")
    assert marker.status_code == 404


async def test_none_is_found(service: Service) -> None:
    """Showing, changing and deleting answer 404."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("GET", {}),
        ("PATCH", {"json": []}),
        ("DELETE", {}),
    ]
    for method, more in calls:
        response = await service.call(method, "/v1/federations/mine", **more)
        assert response.status_code == 404
        assert error_of(response)["detail"] == "Federation mine could not be found."


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({}, 400, "Federations are not implemented"),
        ({"hostcluster_id": "absent"}, 404, "Cluster absent could not be found"),
        ({"hostcluster_id": None}, 400, "field/attribute hostcluster_id"),
        ({"properties": {"zone": "x"}}, 400, "must have a value for dns-zone"),
        ({"properties": None}, 400, "field/attribute properties"),
        ({"name": "1"}, 400, "field/attribute name"),
        ({"colour": "red"}, 400, "Unknown attribute: colour"),
    ],
)
async def test_a_federation_is_refused_and_not_lost(
    service: Service, change: dict[str, Any], status: int, message: str
) -> None:
    """The shape is checked first; a good one is told that it is not implemented."""
    uuid = await service.cluster((await service.template())["uuid"])
    body = GOOD | {"hostcluster_id": uuid} | change
    response = await service.call("POST", "/v1/federations", json=body)
    assert (response.status_code, message in error_of(response)["detail"]) == (status, True)


async def test_policy_comes_first(service: Service) -> None:
    """Readers may look, and may not ask for one; guests may do neither."""
    body = GOOD | {"hostcluster_id": "x"}
    calls: list[tuple[str, str, str, dict[str, Any]]] = [
        ("reader-token", "POST", "/v1/federations", {"json": body}),
        ("reader-token", "DELETE", "/v1/federations/x", {}),
        ("nobody-token", "GET", "/v1/federations", {}),
        ("nobody-token", "GET", "/v1/federations/x", {}),
    ]
    for token, method, path, more in calls:
        response = await service.call(method, path, token=token, **more)
        assert response.status_code == 403
        assert "Policy doesn't allow federation:" in error_of(response)["detail"]
