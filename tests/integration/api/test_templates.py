"""Cluster templates over HTTP."""

from typing import Any

import pytest

from tests.integration.api.cloud import PROJECT
from tests.integration.api.conftest import BASE, Service, error_of


async def refused(service: Service, **attributes: Any) -> tuple[int, str]:
    body = {"name": "small", "coe": "kubernetes", "image_id": "fake-image"} | attributes
    given = {key: value for key, value in body.items() if value is not ...}
    response = await service.call("POST", "/v1/clustertemplates", json=given)
    return response.status_code, error_of(response)["detail"]


async def patched(
    service: Service, uuid: str, *patch: dict[str, Any], token: str = "member-token"
) -> Any:
    return await service.call(
        "PATCH", f"/v1/clustertemplates/{uuid}", json=list(patch), token=token
    )


async def test_creating_answers_201_with_the_whole_template(service: Service) -> None:
    """The answer has a Location, and all fields, those that were resolved too."""
    body = {
        "coe": "kubernetes",
        "image_id": "fake-image",
        "labels": {"number": 1, "flag": True, "text": "x", "half": 0.5},
        "keypair_id": None,
    }
    response = await service.call("POST", "/v1/clustertemplates", json=body)
    assert response.status_code == 201
    template = response.json()
    assert response.headers["location"] == f"{BASE}/v1/clustertemplates/{template['uuid']}"
    assert template["labels"] == {"number": "1", "flag": "True", "text": "x", "half": "0.5"}
    assert template["name"].endswith("-template")
    assert (template["driver"], template["cluster_distro"]) == ("fake", "fake")
    assert (template["network_driver"], template["server_type"]) == ("flannel", "vm")
    assert (template["project_id"], template["user_id"]) == (PROJECT, "u1")
    assert template["links"] == [
        {"href": f"{BASE}/v1/clustertemplates/{template['uuid']}", "rel": "self"},
        {"href": f"{BASE}/clustertemplates/{template['uuid']}", "rel": "bookmark"},
    ]
    shown = await service.call("GET", f"/v1/clustertemplates/{template['uuid']}")
    assert shown.json() == template


@pytest.mark.parametrize(
    ("attributes", "status", "message"),
    [
        ({"coe": ...}, 400, "field/attribute coe. Mandatory field missing"),
        ({"image_id": ...}, 400, "field/attribute image_id. Mandatory field missing"),
        ({"colour": "red"}, 400, "Unknown attribute: colour"),
        ({"coe": "unheard-of"}, 400, "No driver builds unheard-of on fake (vm)"),
        ({"image_id": "absent"}, 400, "Unable to find image absent"),
        ({"image_id": "mute-image"}, 400, "magnum_distro"),
        ({"image_id": "alien-image"}, 400, "No driver builds kubernetes on alien (vm)"),
        ({"image_id": "disabled-image"}, 400, "disabled_driver' would, but is disabled"),
        ({"image_id": "twin-image"}, 409, "first_twin, second_twin"),
        ({"driver": "absent"}, 400, "Driver 'absent' is not installed"),
        ({"driver": "disabled_driver"}, 400, "is disabled"),
        ({"driver": "first_twin"}, 400, "does not build kubernetes on fake"),
        ({"flavor_id": "absent"}, 400, "Unable to find flavor absent"),
        ({"master_flavor_id": "absent"}, 400, "Unable to find flavor absent"),
        ({"flavor_id": "diskless"}, 400, "has no root disk"),
        ({"external_network_id": "absent"}, 400, "Unable to find external network absent"),
        ({"fixed_network": "absent"}, 400, "Unable to find fixed network absent"),
        ({"fixed_subnet": "absent"}, 400, "Unable to find fixed subnet absent"),
        ({"labels": {"a": {"b": "c"}}}, 400, "field/attribute labels.a"),
        ({"labels": {"a": None}}, 400, "Wrong type"),
        ({"labels": ["a"]}, 400, "field/attribute labels"),
        ({"server_type": "mainframe"}, 400, "field/attribute server_type"),
        ({"apiserver_port": 1023}, 400, "field/attribute apiserver_port"),
        ({"docker_volume_size": 0}, 400, "field/attribute docker_volume_size"),
        ({"docker_volume_size": 10**30}, 400, "field/attribute docker_volume_size"),
        ({"dns_nameserver": "nine"}, 400, "Expected a single dns address"),
        ({"network_driver": "magic"}, 400, "flannel/calico/cilium"),
        ({"volume_driver": "magic"}, 400, "Volume driver type magic is not supported"),
        ({"name": "n" * 256}, 400, "field/attribute name"),
        ({"name": ""}, 400, "field/attribute name"),
        ({"name": "a\0b"}, 400, "NUL"),
        ({"tags": "t" * 256}, 400, "field/attribute tags"),
        ({"public": "perhaps"}, 400, "field/attribute public"),
        ({"project_id": "p"}, 400, "Cannot set read only field"),
        ({"public": True}, 403, "Not authorized to set public or hidden flag"),
        ({"hidden": True}, 403, "Not authorized to set public or hidden flag"),
    ],
)
async def test_what_cannot_work_is_refused(
    service: Service, attributes: dict[str, Any], status: int, message: str
) -> None:
    """Each mistake is refused with its own code and a message that says what is wrong."""
    answered, detail = await refused(service, **attributes)
    assert (answered, message in detail) == (status, True), detail


async def test_an_image_of_the_old_style_works(service: Service) -> None:
    """The property ``os_distro`` still says the distribution."""
    assert (await service.template(image_id="old-style-image"))["cluster_distro"] == "fake"


async def test_two_drivers_for_one_image_are_told_apart(service: Service) -> None:
    """The template's driver or the image's property chooses between drivers that both fit."""
    named = await service.template(image_id="twin-image", driver="first_twin")
    assert named["driver"] == "first_twin"
    assert (await service.template(image_id="chosen-twin-image"))["driver"] == "second_twin"


async def test_a_cloud_that_does_not_answer_is_503(service: Service) -> None:
    """The user learns that the cloud is at fault, not the request."""
    service.cloud.down = True
    assert (await refused(service))[0] == 503


async def test_readers_cannot_write_and_guests_cannot_read(service: Service) -> None:
    """Policy decides by role, and the answer names the rule."""
    template = await service.template()
    path = f"/v1/clustertemplates/{template['uuid']}"
    for method, target, rule in (
        ("POST", "/v1/clustertemplates", "clustertemplate:create"),
        ("PATCH", path, "clustertemplate:update"),
        ("DELETE", path, "clustertemplate:delete"),
    ):
        body: Any = {"coe": "kubernetes", "image_id": "fake-image"} if method == "POST" else []
        kwargs = {} if method == "DELETE" else {"json": body}
        response = await service.call(method, target, token="reader-token", **kwargs)
        assert response.status_code == 403
        assert f"allow {rule} to be performed" in error_of(response)["detail"]
    assert (await service.call("GET", path, token="reader-token")).status_code == 200
    assert (await service.call("GET", path, token="nobody-token")).status_code == 403
    listed = await service.call("GET", "/v1/clustertemplates", token="nobody-token")
    assert listed.status_code == 403


async def test_projects_do_not_see_each_other(service: Service) -> None:
    """Another project's template is 404 for reading, changing and deleting; admins see it."""
    template = await service.template()
    path = f"/v1/clustertemplates/{template['uuid']}"
    for method in ("GET", "PATCH", "DELETE"):
        kwargs: dict[str, Any] = {"json": []} if method == "PATCH" else {}
        response = await service.call(method, path, token="stranger-token", **kwargs)
        assert response.status_code == 404
    listed = await service.call("GET", "/v1/clustertemplates", token="stranger-token")
    assert listed.json() == {"clustertemplates": []}
    assert (await service.call("GET", path, token="admin-token")).status_code == 200


async def test_public_templates_are_for_all_and_changed_by_none(service: Service) -> None:
    """Other projects read a public template and cannot change it."""
    template = await service.template(token="admin-token", public=True)
    path = f"/v1/clustertemplates/{template['uuid']}"
    assert (await service.call("GET", path, token="stranger-token")).status_code == 200
    response = await patched(
        service,
        template["uuid"],
        {"op": "replace", "path": "/name", "value": "mine"},
        token="stranger-token",
    )
    assert response.status_code == 403
    assert (await service.call("DELETE", path, token="stranger-token")).status_code == 403


async def test_hidden_templates_are_hidden(service: Service) -> None:
    """A hidden template is in no list but the administrator's; its project can still show it."""
    template = await service.template(token="admin-token", hidden=True, public=True)
    path = f"/v1/clustertemplates/{template['uuid']}"
    assert (await service.call("GET", path, token="stranger-token")).status_code == 404
    assert (await service.call("GET", path, token="member-token")).status_code == 200
    for token, count in (("member-token", 0), ("stranger-token", 0), ("admin-token", 1)):
        listed = await service.call("GET", "/v1/clustertemplates", token=token)
        assert len(listed.json()["clustertemplates"]) == count


async def test_patching_answers_200_with_the_changed_template(service: Service) -> None:
    """Strings, numbers, labels and booleans change; the time of change is set."""
    template = await service.template(labels={"a": "1"})
    response = await patched(
        service,
        template["uuid"],
        {"op": "replace", "path": "/name", "value": "big"},
        {"op": "add", "path": "/docker_volume_size", "value": 5},
        {"op": "add", "path": "/labels/b", "value": "2"},
        {"op": "replace", "path": "/master_lb_enabled", "value": "True"},
        {"op": "remove", "path": "/floating_ip_enabled"},
    )
    assert response.status_code == 200, response.text
    changed = response.json()
    assert changed["name"] == "big"
    assert changed["docker_volume_size"] == 5
    assert changed["labels"] == {"a": "1", "b": "2"}
    assert changed["master_lb_enabled"] is True
    assert changed["floating_ip_enabled"] is True
    assert changed["updated_at"] is not None
    shown = await service.call("GET", "/v1/clustertemplates/big")
    assert shown.json() == changed


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"op": "remove", "path": "/coe"}, "mandatory attribute"),
        ({"op": "replace", "path": "/uuid", "value": "x"}, "internal attribute"),
        ({"op": "add", "path": "/colour", "value": "red"}, "Adding a new attribute"),
        ({"op": "replace", "path": "/image_id", "value": "absent"}, "Unable to find image"),
        ({"op": "replace", "path": "/flavor_id", "value": "absent"}, "Unable to find flavor"),
        ({"op": "replace", "path": "/docker_volume_size", "value": "x"}, "docker_volume_size"),
        ({"op": "replace", "path": "/labels", "value": "{'a': {}}"}, "labels.a"),
        ({"op": "replace", "path": "/labels", "value": "[1]"}, "labels"),
        ({"op": "replace", "path": "/network_driver", "value": "magic"}, "Network driver"),
        ({"op": "replace", "path": "/driver", "value": "absent"}, "is not installed"),
        ({"op": "test", "path": "/name", "value": "small"}, "op"),
    ],
)
async def test_patches_that_cannot_work_are_refused(
    service: Service, patch: dict[str, Any], message: str
) -> None:
    """A wrong patch is 400 and changes nothing."""
    template = await service.template()
    response = await patched(service, template["uuid"], patch)
    assert response.status_code == 400
    assert message in error_of(response)["detail"]
    shown = await service.call("GET", f"/v1/clustertemplates/{template['uuid']}")
    assert shown.json() == template


async def test_a_patch_must_be_a_list(service: Service) -> None:
    """A plain object is no patch."""
    template = await service.template()
    response = await service.call(
        "PATCH", f"/v1/clustertemplates/{template['uuid']}", json={"name": "x"}
    )
    assert response.status_code == 400


async def test_another_image_selects_the_driver_anew(service: Service) -> None:
    """With a new image and driver, distribution and driver follow."""
    template = await service.template()
    response = await patched(
        service,
        template["uuid"],
        {"op": "replace", "path": "/image_id", "value": "chosen-twin-image"},
        {"op": "remove", "path": "/driver"},
    )
    assert (response.json()["driver"], response.json()["cluster_distro"]) == (
        "second_twin",
        "twin",
    )


async def test_only_administrators_publish(service: Service) -> None:
    """Changing the public flag needs the rule ``clustertemplate:publish``."""
    template = await service.template()
    publish = {"op": "replace", "path": "/public", "value": "true"}
    assert (await patched(service, template["uuid"], publish)).status_code == 403
    response = await patched(service, template["uuid"], publish, token="admin-token")
    assert response.json()["public"] is True


async def test_a_template_in_use_is_protected(service: Service) -> None:
    """While clusters use it only name, tags and the flags change, and it cannot be deleted."""
    template = await service.template()
    await service.cluster(template["uuid"])
    response = await patched(
        service, template["uuid"], {"op": "add", "path": "/labels/x", "value": "1"}
    )
    assert response.status_code == 400
    assert "is referenced by one or multiple clusters" in error_of(response)["detail"]
    for attribute in ("name", "tags"):
        allowed = {"op": "replace", "path": f"/{attribute}", "value": "renamed"}
        assert (await patched(service, template["uuid"], allowed)).status_code == 200
    response = await service.call("DELETE", f"/v1/clustertemplates/{template['uuid']}")
    assert response.status_code == 400


async def test_deleting_answers_204_and_it_is_gone(service: Service) -> None:
    """A deleted template is not found; neither is one that never was."""
    template = await service.template()
    response = await service.call("DELETE", "/v1/clustertemplates/small")
    assert (response.status_code, response.content) == (204, b"")
    for method in ("GET", "DELETE"):
        response = await service.call(method, f"/v1/clustertemplates/{template['uuid']}")
        assert response.status_code == 404


async def test_an_ambiguous_name_is_a_conflict(service: Service) -> None:
    """Names are not unique; the uuid is asked for."""
    await service.template()
    await service.template()
    assert (await service.call("GET", "/v1/clustertemplates/small")).status_code == 409
