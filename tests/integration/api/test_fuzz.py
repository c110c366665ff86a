"""No input makes the service fail."""

from typing import Any
from urllib.parse import quote

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jeroboam.api.http.schemas.cluster import ClusterCreate
from jeroboam.api.http.schemas.cluster_template import ClusterTemplateCreate
from jeroboam.models.quota import QuotaResource
from tests.integration.api.conftest import Service

WORDS = st.sampled_from(
    ["fake-image", "m1.small", "kubernetes", "swarm", "private", "mykey", "vm", "fake", "1", "a=b"]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(0, 5),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    WORDS,
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
PATCHES: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.builds(
        dict,
        op=st.sampled_from(["add", "replace", "remove", "move"]),
        path=st.sampled_from([f"/{field}" for field in ClusterTemplateCreate.model_fields])
        | st.sampled_from(["/labels/a", "/labels/", "name", "//"])
        | st.text(max_size=8),
        value=SCALARS,
    ),
    max_size=3,
)
LIST_PATHS = st.sampled_from(
    ["/v1/clusters", "/v1/clusters/detail", "/v1/clustertemplates", "/v1/clusters/x/nodegroups"]
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["limit", "marker", "sort_key", "sort_dir", "role", "x"]),
    st.text(max_size=10) | st.integers().map(str) | st.sampled_from(["name", "created_at", "asc"]),
    max_size=3,
)
bounded = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def changed(base: dict[str, Any], schema: type[Any]) -> Any:
    """Return bodies that work but for a few attributes."""
    fields = st.sampled_from(sorted(schema.model_fields))
    return st.dictionaries(fields, VALUES, max_size=4).map(lambda some: base | some)


@bounded
@given(body=changed({"coe": "kubernetes", "image_id": "fake-image"}, ClusterTemplateCreate))
async def test_any_template_is_created_or_refused(service: Service, body: dict[str, Any]) -> None:
    """A template of odd attributes is the user's error at most."""
    response = await service.call("POST", "/v1/clustertemplates", token="admin-token", json=body)
    assert response.status_code < 500, response.text


@bounded
@given(body=changed({"cluster_template_id": "small"}, ClusterCreate))
async def test_any_cluster_is_accepted_or_refused(service: Service, body: dict[str, Any]) -> None:
    """A cluster of odd attributes is the user's error at most."""
    service.limits[QuotaResource.CLUSTER] = 10_000
    response = await service.call("GET", "/v1/clustertemplates/small")
    if response.status_code == 404:
        await service.template()
    response = await service.call("POST", "/v1/clusters", json=body)
    assert response.status_code < 500, response.text


@bounded
@given(patch=PATCHES)
async def test_any_patch_is_applied_or_refused(
    service: Service, patch: list[dict[str, Any]]
) -> None:
    """An odd patch is the user's error at most."""
    template = await service.template(labels={"a": "1"})
    path = f"/v1/clustertemplates/{template['uuid']}"
    response = await service.call("PATCH", path, token="admin-token", json=patch)
    assert response.status_code < 500, response.text


@bounded
@given(
    path=LIST_PATHS,
    arguments=ARGUMENTS,
)
async def test_any_list_is_answered_or_refused(
    service: Service, path: str, arguments: dict[str, str]
) -> None:
    """Odd list arguments are the user's error at most."""
    response = await service.call("GET", path, params=arguments)
    assert response.status_code < 500, response.text


@bounded
@given(
    ident=st.text(min_size=1),
    resource=st.sampled_from(["clusters", "clustertemplates", "clusters/x/nodegroups"]),
    method=st.sampled_from(["GET", "DELETE"]),
)
async def test_any_name_is_found_or_not(
    service: Service, ident: str, resource: str, method: str
) -> None:
    """Odd names of resources are the user's error at most."""
    path = f"/v1/{resource}/{quote(ident, safe='')}"
    response = await service.call(method, path)
    assert response.status_code < 500 or response.status_code == 501, response.text
