"""What every route has in common: versions, errors, authentication, bodies, logs."""

from typing import Any

import pytest
import structlog

from tests.integration.api.conftest import Service, error_of

LONG_NAME = "container-infrastructure-management"


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/", "/healthcheck", "/openapi.json"])
async def test_public_paths_need_no_token(service: Service, path: str) -> None:
    """Roots, health and the description of the API are open to all."""
    response = await service.call("GET", path, token=None)
    assert response.status_code == 200


async def test_the_root_describes_the_versions(service: Service) -> None:
    """Clients discover version 1 and its microversions without a token."""
    (version,) = (await service.call("GET", "/", token=None)).json()["versions"]
    assert version == {
        "id": "v1",
        "status": "CURRENT",
        "min_version": "1.1",
        "max_version": "1.14",
        "links": [{"href": "http://jeroboam.test/v1/", "rel": "self"}],
    }


async def test_version_one_links_all_resources(service: Service) -> None:
    """The document of version 1 has a pair of links for each resource."""
    document = (await service.call("GET", "/v1/", token=None)).json()
    others = {"id", "links", "media_types", "extensions"}
    assert document.keys() - others == {
        *("clustertemplates", "clusters", "quotas", "certificates", "mservices", "stats"),
        *("federations", "nodegroups", "credentials"),
    }
    assert document["clusters"] == [
        {"href": "http://jeroboam.test/v1/clusters/", "rel": "self"},
        {"href": "http://jeroboam.test/clusters/", "rel": "bookmark"},
    ]


async def test_version_one_names_every_extension(service: Service) -> None:
    """Whatever is served beyond Magnum is listed, in a place that Magnum's clients pass over."""
    document = (await service.call("GET", "/v1", token=None)).json()
    known = {*document, *document["extensions"]}
    below = {*document["extensions"]["clusters"], "nodegroups", "actions"}
    engines = {"kubernetes", "swarm", "mesos", "talkative"}
    for path in service.app.openapi()["paths"]:
        first, *rest = path.removeprefix("/v1").strip("/").split("/")
        if path.startswith("/v1/"):
            assert first in known, path
        if first == "clusters" and len(rest) > 1:
            assert rest[1] in below | engines, path
        if rest[1:2] == ["actions"]:
            assert rest[2] in {*document["extensions"]["actions"], "resize", "upgrade"}


@pytest.mark.parametrize(("asked", "answered"), [(None, "1.1"), ("1.9", "1.9"), ("latest", "1.14")])
async def test_answers_say_which_version_they_speak(
    service: Service, asked: str | None, answered: str
) -> None:
    """The version headers are on every answer of version 1, with the long service name."""
    response = await service.call("GET", "/v1/clusters", version=asked)
    assert response.headers["openstack-api-version"] == f"{LONG_NAME} {answered}"
    assert response.headers["openstack-api-minimum-version"] == f"{LONG_NAME} 1.1"
    assert response.headers["openstack-api-maximum-version"] == f"{LONG_NAME} 1.14"
    assert response.headers["vary"] == "OpenStack-API-Version"


@pytest.mark.parametrize("header", ["1.9", "nova 1.9", "container-infra one"])
async def test_unreadable_versions_are_not_acceptable(service: Service, header: str) -> None:
    """A header that cannot be read gives 406 without a code and without version headers."""
    response = await service.call(
        "GET", "/v1/clusters", version=None, headers={"OpenStack-API-Version": header}
    )
    assert response.status_code == 406
    assert error_of(response)["code"] == ""
    assert "openstack-api-version" not in response.headers


@pytest.mark.parametrize("version", ["1.0", "1.15", "2.1"])
async def test_unsupported_versions_are_told_the_limits(service: Service, version: str) -> None:
    """A version out of range gives 406 in the shape of its own that clients look for."""
    response = await service.call("GET", "/v1/clusters", version=version)
    assert response.status_code == 406
    error = error_of(response)
    assert error["code"] == "magnum.microversion-unsupported"
    assert (error["min_version"], error["max_version"]) == ("1.1", "1.14")
    assert error["links"][0]["rel"] == "help"
    assert "status" not in error
    assert "detail" not in error
    assert response.headers["openstack-api-maximum-version"] == f"{LONG_NAME} 1.14"


@pytest.mark.parametrize("path", ["/v1/clusters/x/nodegroups", "/v1/clusters/x/nodegroups/y"])
async def test_node_groups_begin_at_1_9(service: Service, path: str) -> None:
    """Before 1.9 the routes are not acceptable, whether or not the cluster exists."""
    response = await service.call("GET", path, version="1.8")
    assert response.status_code == 406
    error = error_of(response)
    assert error["code"] == ""
    assert "is not supported for this version" in error["detail"]
    assert "openstack-api-version" not in response.headers


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/nothing", 404),
        ("GET", "/v1/clusters/a/b/c/d", 404),
        ("PUT", "/v1/clusters", 405),
        ("DELETE", "/v1/clusters", 405),
    ],
)
async def test_unknown_routes_and_methods(
    service: Service, method: str, path: str, status: int
) -> None:
    """Unknown routes and methods have an error without code, title and detail."""
    response = await service.call(method, path)
    assert response.status_code == status
    error = error_of(response)
    assert (error["code"], error["title"], error["detail"]) == ("", "", "")


async def test_errors_of_the_user_have_magnum_s_shape(service: Service) -> None:
    """A client error has an empty request id, the code, the status, title, detail and links."""
    response = await service.call("GET", "/v1/clusters/absent")
    assert response.status_code == 404
    assert error_of(response) == {
        "request_id": "",
        "code": "client",
        "status": 404,
        "title": "Cluster absent could not be found",
        "detail": "Cluster absent could not be found.",
        "links": [],
    }
    assert response.headers["openstack-api-version"] == f"{LONG_NAME} 1.14"


async def test_without_a_token_nothing_is_answered(service: Service) -> None:
    """A request without a valid token gives 401 on every other route, known or not."""
    for path in ("/v1/clusters", "/v1/nothing", "/clusters", "/v1/quotas"):
        for token in (None, "wrong"):
            response = await service.call("GET", path, token=token)
            assert response.status_code == 401
            assert error_of(response)["title"] == (
                "The request you have made requires authentication"
            )


async def test_identity_headers_of_the_client_count_for_nothing(service: Service) -> None:
    """A client cannot make itself another user or an administrator."""
    forged = {
        "X-User-Id": "u6",
        "X-Project-Id": "22222222222222222222222222222222",
        "X-Roles": "admin",
        "X-Identity-Status": "Confirmed",
        "X-Is-Admin-Project": "True",
    }
    response = await service.call("GET", "/v1/clusters", token=None, headers=forged)
    assert response.status_code == 401
    response = await service.call("GET", "/v1/mservices", headers=forged)
    assert response.status_code == 403


async def test_request_ids_are_given_and_taken_over(service: Service) -> None:
    """An id of OpenStack's form is kept; anything else is replaced."""
    given = "req-11111111-2222-3333-4444-555555555555"
    for sent, kept in ((given, True), ("mine", False), (f"{given}\tx", False)):
        response = await service.call(
            "GET", "/healthcheck", headers={"X-OpenStack-Request-ID": sent}
        )
        answered = response.headers["x-openstack-request-id"]
        assert answered.startswith("req-")
        assert (answered == sent) is kept


@pytest.mark.parametrize(
    ("content", "content_type", "status", "message"),
    [
        (b"{", "application/json", 400, "Request body is not valid JSON"),
        (b"\xff\xfe", "application/json", 400, ""),
        (b"[" * 100_000, "application/json", 400, ""),
        (b"<cluster/>", "application/xml", 415, "Unknown mimetype: application/xml"),
        (b"", "application/json", 400, "The request needs a JSON body"),
        (b"[]", "application/json", 400, "Invalid input for field/attribute body"),
        (b" " * (1 << 20) + b"{}", "application/json", 413, "The request body is larger than"),
    ],
)
async def test_bodies_that_are_no_json_object(
    service: Service, content: bytes, content_type: str, status: int, message: str
) -> None:
    """Bad bodies are the client's errors: not JSON, not an object, another type, too large."""
    response = await service.call(
        "POST", "/v1/clusters", content=content, headers={"Content-Type": content_type}
    )
    assert response.status_code == status
    assert error_of(response)["detail"].startswith(message)


async def test_large_bodies_are_refused_without_a_length_too(service: Service) -> None:
    """A body that comes in chunks is counted while it comes."""

    async def chunks() -> Any:
        for _ in range(20):
            yield b" " * 100_000

    response = await service.call(
        "POST", "/v1/clusters", content=chunks(), headers={"Content-Type": "application/json"}
    )
    assert response.status_code == 413


async def test_a_body_without_a_type_is_json(service: Service) -> None:
    """Clients that send no Content-Type are understood, as by Magnum."""
    response = await service.call("POST", "/v1/clusters", content=b'{"name": "1"}')
    assert "field/attribute name" in error_of(response)["detail"]


@pytest.mark.parametrize(
    ("method", "path", "version", "status"),
    [
        ("POST", "/v1/clusters/x/actions/resize", "1.6", 406),
        ("POST", "/v1/clusters/x/actions/upgrade", "1.7", 400),
        ("POST", "/v1/clusters/x/nodegroups", "1.8", 406),
        ("PATCH", "/v1/credentials/x", "1.11", 406),
        ("PATCH", "/v1/clusters/x?rollback=True", "1.2", 400),
    ],
)
async def test_the_gates_open_at_their_version(
    service: Service, method: str, path: str, version: str, status: int
) -> None:
    """Microversion gates come first, with Magnum's odd codes."""
    assert (await service.call(method, path, version=version)).status_code == status


async def test_a_defect_is_answered_and_gives_nothing_away(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unexpected exception becomes 500 with the request id and no detail of it."""

    async def defect(*_: object) -> None:
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr(service.store.clusters, "list", defect)
    response = await service.call("GET", "/v1/clusters")
    assert response.status_code == 500
    error = error_of(response)
    assert error["code"] == "server"
    assert response.headers["x-openstack-request-id"] in error["detail"]
    assert "hunter2" not in response.text


async def test_one_log_line_ties_the_request_together(service: Service) -> None:
    """The line has the ids of request, project and cluster; never the token."""
    template = await service.template()
    with structlog.testing.capture_logs(
        processors=[structlog.contextvars.merge_contextvars]
    ) as lines:
        uuid = await service.cluster(template["uuid"])
    line = next(one for one in lines if one["event"] == "request")
    assert line["cluster_id"] == uuid
    assert line["operation_id"] == service.operations.started[0].uuid
    assert line["project_id"] == template["project_id"]
    assert (line["method"], line["path"], line["status"]) == ("POST", "/v1/clusters", 202)
    assert "member-token" not in str(lines)


async def test_health_says_which_service_fails(service: Service) -> None:
    """The detailed check names the service that fails, and nothing of the reason."""
    ok = await service.call("GET", "/healthcheck?detailed", token=None)
    assert ok.json() == {"status": "ok", "services": {"database": "ok"}}

    async def fail() -> None:
        raise RuntimeError("postgresql://user:password@db")

    service.app.state.health._probes = {"database": fail}
    service.app.state.health._asked_at = float("-inf")
    bad = await service.call("GET", "/healthcheck?detailed", token=None)
    assert bad.status_code == 503
    assert bad.json() == {"status": "unavailable", "services": {"database": "unavailable"}}
    assert (await service.call("GET", "/healthcheck", token=None)).text == "OK"
