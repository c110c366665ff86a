"""``/v1/clusters/{cluster}/maintenance_window``."""

from datetime import datetime
from typing import Any

import pytest

from tests.integration.api.conftest import Service, error_of

NIGHTS = {
    "days": ["sat", "SUN"],
    "start": "22:30",
    "duration_minutes": 240,
    "time_zone": "Europe/Berlin",
}


@pytest.fixture
async def path(service: Service) -> str:
    return f"/v1/clusters/{await service.built()}/maintenance_window"


async def test_put_and_get(service: Service, path: str) -> None:
    """A window is stored, replaced, and shown with its next opening."""
    missing = await service.call("GET", path)
    assert missing.status_code == 404
    assert "starts at any time" in error_of(missing)["detail"]
    response = await service.call("PUT", path, json=NIGHTS)
    assert response.status_code == 200, response.text
    assert response.json()["updated_at"] is None
    shown = (await service.call("GET", path, token="reader-token")).json()
    assert shown == response.json()
    assert shown["days"] == ["sat", "sun"]
    assert isinstance(shown["open"], bool)
    opening = datetime.fromisoformat(shown["next_opening"])
    assert opening.weekday() in {5, 6}
    by_cron = {"cron": "0 1 * * mon", "duration_minutes": 60}
    replaced = (await service.call("PUT", path, json=by_cron)).json()
    assert (replaced["days"], replaced["start"]) == ([], None)
    assert replaced["cron"] == "0 1 * * mon"
    assert replaced["created_at"] == shown["created_at"]
    assert replaced["updated_at"]


async def test_delete(service: Service, path: str) -> None:
    """A window that is deleted is gone; deleting it again is no error."""
    await service.call("PUT", path, json=NIGHTS)
    for _ in range(2):
        assert (await service.call("DELETE", path)).status_code == 204
    assert (await service.call("GET", path)).status_code == 404


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"start": "24:00"}, "'24' is not right for the hour"),
        ({"start": "9"}, "no time of day"),
        ({"start": "9:5"}, "no time of day"),
        ({"start": "-1:00"}, "no time of day"),
        ({"start": None}, "Give either 'start'"),
        ({"cron": "0 1 * * *"}, "Give either 'start'"),
        ({"start": None, "cron": "0 1 * * *"}, "leave 'days' out"),
        ({"start": None, "days": [], "cron": "0 1 30 2 *"}, "would never open"),
        ({"days": ["caturday"]}, "is no day. Use: mon"),
        ({"duration_minutes": 5}, "between 10 and 10080"),
        ({"duration_minutes": 10081}, "between 10 and 10080"),
        ({"time_zone": "Mars/Olympus"}, "no time zone"),
        ({"colour": "red"}, "Unknown attribute: colour"),
    ],
)
async def test_bad_window(
    service: Service, path: str, change: dict[str, Any], complaint: str
) -> None:
    """A window that cannot be meant is refused with what would be right."""
    response = await service.call("PUT", path, json=NIGHTS | change)
    assert response.status_code == 400, response.text
    assert complaint in error_of(response)["detail"]
    assert (await service.call("GET", path)).status_code == 404


async def test_permissions(service: Service, path: str) -> None:
    """Readers look, members change, strangers know nothing of the cluster."""
    assert (await service.call("PUT", path, token="reader-token", json=NIGHTS)).status_code == 403
    assert (await service.call("DELETE", path, token="reader-token")).status_code == 403
    assert (await service.call("GET", path, token="nobody-token")).status_code == 403
    for method in ("GET", "PUT", "DELETE"):
        response = await service.call(method, path, token="stranger-token", json=NIGHTS)
        assert response.status_code == 404
