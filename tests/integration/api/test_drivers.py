"""``/v1/drivers``, and how a driver is chosen for a template."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from structlog.testing import capture_logs

from jeroboam.drivers import patience
from jeroboam.drivers.base import Provides
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.registry import BrokenDriver, DriverEntry, DriverRegistry
from jeroboam.drivers.sources import Source
from jeroboam.models import ClusterSpec
from tests.integration.api import drivers
from tests.integration.api.cloud import RecordingOperations
from tests.integration.api.conftest import Service, error_of, serving

REASON = "the operator lists it in disabled_drivers"


class Hanging(FakeDriver):
    """Never answers."""

    name: ClassVar[str] = "hanging"

    @property
    def provides(self) -> Sequence[Provides]:
        return (Provides(server_type="vm", os="plain", coe="swarm"),)

    def validate(self, spec: ClusterSpec) -> None:
        time.sleep(5)


@pytest.fixture
async def service(service: Service) -> AsyncIterator[Service]:
    """A service with one more driver that hangs, and one that is broken."""
    entries = drivers.registry().entries()
    packaged = Source(package="twins", version="1.2.3")
    broken = BrokenDriver("bad_v1", Source(folder=Path("/drivers/bad_v1")), "SyntaxError: x")
    registry = DriverRegistry(
        [
            *(
                DriverEntry(one.driver, one.disabled_reason, packaged)
                for one in (*entries, DriverEntry(Hanging()))
            )
        ],
        [broken],
    )
    operations = RecordingOperations(service.store)
    async with serving(service.settings, service.store, operations, registry) as changed:
        yield changed


async def listed(service: Service, token: str) -> dict[str, dict[str, object]]:
    response = await service.call("GET", "/v1/drivers", token=token)
    assert response.status_code == 200
    return {one["name"]: one for one in response.json()["drivers"]}


async def test_administrators_see_all_of_it(service: Service) -> None:
    """Name, version, source, kinds, abilities, and why a driver is disabled or broken."""
    found = await listed(service, "admin-token")
    assert list(found) == sorted(found)
    assert found["fake"]["state"] == "enabled"
    assert found["fake"]["version"] == "1.0.0"
    assert found["fake"]["source"] == "twins 1.2.3"
    assert found["fake"]["provides"] == [{"server_type": "vm", "os": "fake", "coe": "kubernetes"}]
    assert found["fake"]["abilities"] == [
        *("certificate_rotation", "credential_rotation", "health", "node_groups", "reboot"),
        *("rebuild", "upgrade"),
    ]
    assert found["plain"]["abilities"] == []
    disabled, bad = found["disabled_driver"], found["bad_v1"]
    assert (disabled["state"], disabled["reason"]) == ("disabled", REASON)
    assert (bad["state"], bad["reason"], bad["version"]) == ("broken", "SyntaxError: x", None)
    assert bad["source"] == "/drivers/bad_v1"


async def test_tenants_see_what_they_can_choose(service: Service) -> None:
    """Where drivers come from, and what is wrong with broken ones, is the operator's business."""
    found = await listed(service, "reader-token")
    assert "bad_v1" not in found
    assert found["disabled_driver"]["reason"] == REASON
    assert {one["source"] for one in found.values()} == {None}
    response = await service.call("GET", "/v1/drivers", token="nobody-token")
    assert (response.status_code, "driver:get_all" in response.text) == (403, True)


async def test_one_driver(service: Service) -> None:
    """A driver is shown by its name; what is not there, or not to be seen, is a 404."""
    shown = await service.call("GET", "/v1/drivers/bad_v1", token="admin-token")
    assert shown.json()["state"] == "broken"
    shown = await service.call("GET", "/v1/drivers/fake")
    assert shown.json()["links"][0]["href"].endswith("/v1/drivers/fake")
    for name in ("bad_v1", "typo"):
        response = await service.call("GET", f"/v1/drivers/{name}")
        assert response.status_code == 404


async def test_driver_of_a_cluster(service: Service) -> None:
    """A cluster tells its driver, version and files, and whether an upgrade leads to others."""
    uuid = await service.built()
    path = f"/v1/clusters/{uuid}/driver"
    body = (await service.call("GET", path)).json()
    files = DriverEntry(FakeDriver()).files
    assert files
    assert body == {
        "driver": "fake",
        "driver_version": "1.0.0",
        "driver_files": files.digest,
        "installed_version": "1.0.0",
        "upgrade_available": False,
        "files": {"node.yaml": len(files.contents["node.yaml"])},
    }
    assert (await service.call("GET", path, token="stranger-token")).status_code == 404
    shown = (await service.call("GET", f"/v1/clusters/{uuid}")).json()
    assert not {"driver", "driver_version", "driver_files"} & shown.keys()


async def test_deprecated_property_warns_once(service: Service) -> None:
    """``os_distro`` is told in each answer, and once in the log."""
    with capture_logs() as logs:
        for number in range(2):
            body = {"name": f"t{number}", "coe": "kubernetes", "image_id": "old-style-image"}
            response = await service.call("POST", "/v1/clustertemplates", json=body)
            assert response.status_code == 201
            assert response.headers["warning"].startswith('299 jeroboam "The image says')
            assert "magnum_distro" in response.headers["warning"]
            await service.cluster(response.json()["uuid"], name=f"c{number}")
    told = [line for line in logs if line["event"] == "driver_selection_deprecated"]
    assert [line["image"] for line in told] == ["old-style-image"]
    assert "warning" not in (await service.call("GET", "/v1/clustertemplates")).headers
    fresh = {"name": "t", "coe": "kubernetes", "image_id": "fake-image"}
    response = await service.call("POST", "/v1/clustertemplates", json=fresh)
    assert "warning" not in response.headers


async def test_labels_are_checked_with_the_template(service: Service) -> None:
    """A label that no cluster could have is refused before there is a template, and in a patch."""
    body = {"coe": "kubernetes", "image_id": "fake-image", "labels": {"fake_typo": "1"}}
    response = await service.call("POST", "/v1/clustertemplates", json=body)
    assert (response.status_code, "fake_typo" in response.text) == (400, True)
    template = await service.template()
    patch = [{"op": "add", "path": "/labels", "value": {"fake_typo": "1"}}]
    path = f"/v1/clustertemplates/{template['uuid']}"
    response = await service.call("PATCH", path, json=patch)
    assert (response.status_code, "fake_typo" in response.text) == (400, True)


async def test_broken_driver_is_refused_by_name(service: Service) -> None:
    """A template that names a broken driver learns that, and not the operator's paths."""
    body = {"coe": "kubernetes", "image_id": "fake-image", "driver": "bad_v1"}
    response = await service.call("POST", "/v1/clustertemplates", json=body)
    assert response.status_code == 400
    assert "cannot be used" in error_of(response)["detail"]
    assert "/drivers" not in response.text


async def test_driver_that_is_disabled_later(service: Service) -> None:
    """No cluster is made or upgraded with it; what exists is operated and deleted."""
    template = await service.template()
    uuid = await service.built(template=template["uuid"])
    disabled = DriverRegistry([DriverEntry(FakeDriver(), REASON)])
    operations = RecordingOperations(service.store)
    async with serving(service.settings, service.store, operations, disabled) as later:
        made = await later.call(
            "POST", "/v1/clusters", json={"name": "x", "cluster_template_id": template["uuid"]}
        )
        upgraded = await later.act(uuid, "upgrade", json={"cluster_template": template["uuid"]})
        for response in (made, upgraded):
            assert response.status_code == 400
            assert REASON in error_of(response)["detail"]
        patch = [{"op": "add", "path": "/labels", "value": {"fake_version": "v1.31.1"}}]
        for path in ("resize", "check_health"):
            dry = await later.act(
                uuid, f"{path}?dry_run=true", json={"node_count": 2} if path == "resize" else {}
            )
            assert dry.status_code == 200, dry.text
        removed = await later.call("DELETE", f"/v1/clusters/{uuid}?dry_run=true")
        assert removed.status_code == 200
        assert patch


async def test_hanging_driver_holds_nobody_up(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a driver does not answer others are served, and its request ends with an error."""
    monkeypatch.setattr(patience, "ANSWER_SECONDS", 1.0)
    template = await service.template(coe="swarm", image_id="plain-image", network_driver=None)
    body = {"name": "x", "cluster_template_id": template["uuid"]}
    hanging = asyncio.create_task(service.call("POST", "/v1/clusters", json=body))
    await asyncio.sleep(0.2)
    assert (await service.call("GET", "/v1/drivers")).status_code == 200
    assert not hanging.done()
    response = await hanging
    assert response.status_code == 500
    assert "did not answer within 1 s" in response.text
