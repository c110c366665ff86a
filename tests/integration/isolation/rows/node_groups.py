"""Node groups, which are their cluster's."""

from tests.integration.isolation.row import Row

LIST = "/v1/clusters/{cluster}/nodegroups"
ONE = f"{LIST}/{{ident}}"
MOST = [{"op": "replace", "path": "/max_node_count", "value": 9}]

#                             owner member reader stranger nobody admin
ROWS = (
    Row(f"GET {LIST}", "200 200 200 404 403 200"),
    Row(f"GET {ONE}", "200 200 200 404 403 200"),
    Row(f"POST {LIST}", "202 202 403 404 403 202", {"name": "mine"}),
    Row(f"PATCH {ONE}", "202 202 403 404 403 202", MOST),
    Row(f"DELETE {ONE}", "204 204 403 404 403 204"),
)
