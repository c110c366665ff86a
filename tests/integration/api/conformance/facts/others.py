"""Quotas, statistics, services and federations."""

from collections.abc import Sequence

from tests.integration.api.conformance.fact import Fact, words

LIST, SHOW = "GET /v1/quotas", "GET /v1/quotas/{project_id}/{resource}"
CREATE, CHANGE = "POST /v1/quotas", SHOW.replace("GET", "PATCH")
DELETE = SHOW.replace("GET", "DELETE")
ONE = "/v1/quotas/<project>/Cluster"
STATS, SERVICES, FEDERATIONS = "GET /v1/stats", "GET /v1/mservices", "/v1/federations"
QUOTA = words("id project_id resource hard_limit created_at updated_at")
ADMIN = "admin-token"
FEDERATION = {"hostcluster_id": "<cluster>", "properties": {"dns-zone": "example.com."}}

FACTS: Sequence[Fact] = (
    Fact(
        LIST,
        "shows the own project's, in full",
        token=ADMIN,
        of="quotas",
        keys=QUOTA,
        shows={"resource": "Cluster"},
    ),
    Fact(
        LIST,
        "?all_tenants shows all projects'",
        ask="/v1/quotas?all_tenants=True&sort_dir=desc",
        token=ADMIN,
        of="quotas",
        shows={"project_id": "22222222222222222222222222222222"},
    ),
    Fact(LIST, "is for administrators", status=403, has="quota:get_all"),
    Fact(LIST, "needs no version", token=ADMIN, version="1.1"),
    Fact(SHOW, "shows what was set", ask=ONE, keys=QUOTA, shows={"hard_limit": 1000}),
    Fact(
        SHOW,
        "shows the default without an id",
        ask="/v1/quotas/none/Cluster",
        token=ADMIN,
        keys=words("project_id resource hard_limit"),
        shows={"hard_limit": 20},
    ),
    Fact(SHOW, "of another project is 403", ask=ONE, token="stranger-token", status=403),
    Fact(
        SHOW,
        "an unknown resource is 404",
        ask="/v1/quotas/<project>/Nodes",
        status=404,
        magnum="shows the quota of clusters; with several resources that would mislead",
    ),
    Fact(
        CREATE,
        "answers 201 with the object",
        token=ADMIN,
        status=201,
        keys=QUOTA,
        body={"project_id": "new", "resource": "Cluster", "hard_limit": 5},
    ),
    Fact(
        CREATE,
        "by default it is one cluster",
        token=ADMIN,
        status=201,
        body={"project_id": "new"},
        shows={"resource": "Cluster", "hard_limit": 1},
    ),
    Fact(
        CREATE,
        "a limit of 0 is possible",
        token=ADMIN,
        status=201,
        body={"project_id": "new", "hard_limit": 0},
    ),
    Fact(
        CREATE,
        "a limit of -1 is 400",
        token=ADMIN,
        status=400,
        body={"project_id": "new", "hard_limit": -1},
    ),
    Fact(
        CREATE,
        "an unknown resource is 400",
        token=ADMIN,
        status=400,
        body={"project_id": "new", "resource": "Server"},
    ),
    Fact(CREATE, "a second one is 409", token=ADMIN, status=409, body={"project_id": "<project>"}),
    Fact(
        CREATE, "an unknown project is 404", token=ADMIN, status=404, body={"project_id": "absent"}
    ),
    Fact(
        CHANGE,
        "takes a plain object and answers 202",
        ask=ONE,
        token=ADMIN,
        status=202,
        body={"project_id": "<project>", "resource": "Cluster", "hard_limit": 7},
        keys=QUOTA,
        shows={"hard_limit": 7},
    ),
    Fact(
        CHANGE,
        "a JSON patch is 400",
        ask=ONE,
        token=ADMIN,
        status=400,
        body=[{"op": "replace", "path": "/hard_limit", "value": 7}],
    ),
    Fact(
        CHANGE,
        "without a limit it is 400",
        ask=ONE,
        token=ADMIN,
        status=400,
        body={},
        magnum="sets the limit to 1 without a word",
    ),
    Fact(
        CHANGE,
        "an unknown one is 404",
        ask="/v1/quotas/none/Cluster",
        token=ADMIN,
        status=404,
        body={"hard_limit": 7},
    ),
    Fact(DELETE, "answers 204", ask=ONE, token=ADMIN, status=204),
    Fact(DELETE, "an unknown one is 404", ask="/v1/quotas/none/Cluster", token=ADMIN, status=404),
    Fact(
        STATS,
        "counts clusters, and all nodes with the masters",
        token="stranger-token",
        keys=words("clusters nodes"),
        shows={"clusters": 1, "nodes": 2},
    ),
    Fact(STATS, "counts all projects' for an administrator", token=ADMIN, shows={"clusters": 8}),
    Fact(
        STATS,
        "counts a project's for an administrator",
        token=ADMIN,
        version="1.1",
        ask="/v1/stats?project_id=22222222222222222222222222222222&type=cluster",
        shows={"clusters": 1},
    ),
    Fact(
        STATS,
        "of another project is 403",
        token="stranger-token",
        status=403,
        ask="/v1/stats?project_id=<project>",
    ),
    Fact(STATS, "an unknown type is 400", ask="/v1/stats?type=nodes", status=400, has="cluster"),
    Fact(
        SERVICES,
        "with one worker it is one row: number 1, magnum-conductor, up",
        token=ADMIN,
        of="mservices",
        shows={"id": 1, "binary": "magnum-conductor", "state": "up"},
        keys=words(
            "id host binary state report_count disabled disabled_reason", "created_at updated_at"
        ),
    ),
    Fact(SERVICES, "is for administrators", status=403, has="magnum-service:get_all"),
    Fact(f"GET {FEDERATIONS}", "has a list", keys=frozenset({"federations"})),
    Fact(f"GET {FEDERATIONS}/detail", "has a list", keys=frozenset({"federations"})),
    Fact(
        f"GET {FEDERATIONS}/{{ident}}", "an unknown one is 404", ask=f"{FEDERATIONS}/x", status=404
    ),
    Fact(
        f"POST {FEDERATIONS}",
        "a good one is 400: not implemented",
        body=FEDERATION,
        status=400,
        has="not implemented",
        magnum="answers 202, and nothing ever happens",
    ),
    Fact(
        f"POST {FEDERATIONS}",
        "an unknown host cluster is 404",
        status=404,
        body=FEDERATION | {"hostcluster_id": "absent"},
    ),
    Fact(
        f"POST {FEDERATIONS}",
        "without a dns-zone it is 400",
        status=400,
        has="dns-zone",
        body=FEDERATION | {"properties": {"a": "b"}},
    ),
    Fact(
        f"PATCH {FEDERATIONS}/{{ident}}",
        "an unknown one is 404",
        ask=f"{FEDERATIONS}/x",
        body=[],
        status=404,
    ),
    Fact(
        f"DELETE {FEDERATIONS}/{{ident}}",
        "an unknown one is 404",
        ask=f"{FEDERATIONS}/x",
        status=404,
    ),
)
