"""Quotas, statistics, federations and nodes."""

from tests.integration.isolation.row import Row

QUOTA = "/v1/quotas/{project_id}/{resource}"
FEDERATION = {
    "hostcluster_id": "<cluster>",
    "properties": {"dns-zone": "example.com."},
}
ANY = {"ident": "cluster"}

#        owner member reader stranger nobody admin
ROWS: tuple[Row, ...] = (
    Row("GET /v1/quotas", "403 403 403 403 403 200", shared=True),
    Row("GET /v1/quotas", "403 403 403 403 403 200", query="?all_tenants=True", note="all"),
    Row(f"GET {QUOTA}", "200 200 200 403 403 200"),
    Row(
        "POST /v1/quotas",
        "403 403 403 403 403 201",
        {"project_id": "<project>", "resource": "Core", "hard_limit": 5},
    ),
    Row(f"PATCH {QUOTA}", "403 403 403 403 403 202", {"hard_limit": 5}),
    Row(f"DELETE {QUOTA}", "403 403 403 403 403 204"),
    Row("GET /v1/stats", "200 200 200 200 403 200", shared=True),
    Row(
        "GET /v1/stats",
        "200 200 200 403 403 200",
        query="?project_id=<project>",
        note="of a project",
        shared=True,
    ),
    Row("GET /v1/federations", "200 200 200 200 403 200", shared=True),
    Row("GET /v1/federations/detail", "200 200 200 200 403 200", shared=True),
    Row("GET /v1/federations/{ident}", "404 404 404 404 403 404", about=ANY),
    Row("POST /v1/federations", "400 400 403 404 403 400", FEDERATION),
    Row("PATCH /v1/federations/{ident}", "404 404 403 404 403 404", [], about=ANY),
    Row("DELETE /v1/federations/{ident}", "404 404 403 404 403 404", about=ANY),
    Row("GET /v1/clusters/{cluster}/nodes", "200 200 200 404 403 200"),
    Row("GET /v1/clusters/{cluster}/nodegroups/{ident}/nodes", "200 200 200 404 403 200"),
)
