"""Version documents, headers, errors."""

from collections.abc import Sequence

from tests.integration.api.conformance.fact import Fact, words

ROOT, V1, ANY = "GET /", "GET /v1", "GET /v1/clusters"
LONG = "container-infrastructure-management"
NAMES = words("clustertemplates clusters quotas certificates mservices stats federations")
UNVERSIONED = {
    "openstack-api-version": None,
    "openstack-api-minimum-version": None,
    "openstack-api-maximum-version": None,
}
VERSIONED = {
    "openstack-api-minimum-version": f"{LONG} 1.1",
    "openstack-api-maximum-version": f"{LONG} 1.14",
    "vary": "OpenStack-API-Version",
    "content-type": "application/json",
}


def header(text: str) -> dict[str, str]:
    return {"OpenStack-API-Version": text}


FACTS: Sequence[Fact] = (
    Fact(ROOT, "needs no token", token=None, keys=words("name description versions")),
    Fact(
        ROOT,
        "has one version: v1, CURRENT, 1.1 to 1.14, with links",
        token=None,
        of="versions",
        keys=words("id status min_version max_version links"),
        shows={"id": "v1", "status": "CURRENT", "min_version": "1.1", "max_version": "1.14"},
    ),
    Fact(
        V1,
        "lists media types and all resources of Magnum; extensions have a key of their own",
        token=None,
        keys=NAMES | words("nodegroups credentials id links media_types extensions"),
    ),
    Fact(V1, "answers with a slash at the end", ask="/v1/", token=None, shows={"id": "v1"}),
    Fact("GET /healthcheck", "needs no token", token=None),
    Fact(ANY, "needs a token", token=None, status=401),
    Fact(
        ANY,
        "without a version header speaks 1.1",
        version=None,
        headers={**VERSIONED, "openstack-api-version": f"{LONG} 1.1"},
    ),
    Fact(
        ANY,
        "`latest` is the newest version",
        version="latest",
        headers={**VERSIONED, "openstack-api-version": f"{LONG} 1.14"},
    ),
    *(
        Fact(
            ANY,
            f"the service may be called `{name}`, and answers use the long name",
            version=None,
            sends=header(f"{name} 1.9"),
            headers={"openstack-api-version": f"{LONG} 1.9"},
        )
        for name in ("container-infra", LONG)
    ),
    *(
        Fact(
            ANY,
            f"the version header `{text}` is 406, without version headers",
            version=None,
            sends=header(text),
            status=406,
            code="",
            headers=UNVERSIONED,
        )
        for text in ("1.9", "compute 1.9")
    ),
    *(
        Fact(
            ANY,
            f"version {version} is 406 with the range, without status and detail",
            version=version,
            status=406,
            code="magnum.microversion-unsupported",
            keys=words("code title description min_version max_version links"),
            shows={"min_version": "1.1", "max_version": "1.14"},
        )
        for version in ("1.0", "1.15", "2.1")
    ),
    Fact(
        ANY,
        "an error has an empty request id, code, status, title, detail and links",
        ask="/v1/clusters/absent",
        status=404,
        code="client",
        keys=words("request_id code status title detail links"),
        shows={
            "request_id": "",
            "status": 404,
            "title": "Cluster absent could not be found",
            "detail": "Cluster absent could not be found.",
            "links": [],
        },
    ),
    Fact(
        ANY,
        "an unknown route is 404 with empty code and detail",
        ask="/v1/bays",
        status=404,
        code="",
        shows={"detail": ""},
    ),
    Fact(
        "PUT /v1/clusters",
        "an unknown method is 405 with empty code and detail",
        status=405,
        code="",
        shows={"detail": ""},
    ),
    Fact(
        "POST /v1/clusters",
        "XML is refused with 415",
        sends={"Content-Type": "application/xml"},
        body={},
        status=415,
        magnum="has a second path for XML, which no client uses",
    ),
)
