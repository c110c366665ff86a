"""Schedules, which are their project's."""

from tests.integration.isolation.row import Row

LIST = "/v1/schedules"
ONE = "/v1/schedules/{ident}"
TIMES = {"cron": "0 4 * * *"}
ALL_OWN = {"name": "mine", "kind": "soft_reboot", "selector": {}} | TIMES
ONE_CLUSTER = {"name": "mine", "kind": "soft_reboot", "cluster_id": "<cluster>"} | TIMES

#                                   owner member reader stranger nobody admin
ROWS = (
    Row(f"GET {LIST}", "200 200 200 200 403 200"),
    Row(f"GET {ONE}", "200 200 200 404 403 200"),
    Row(f"GET {ONE}/runs", "200 200 200 404 403 200", shared=True),
    Row(f"GET {ONE}/preview", "200 200 200 404 403 200", shared=True),
    Row(f"POST {LIST}", "201 201 403 201 403 201", ALL_OWN, note="all of the project"),
    Row(f"POST {LIST}", "201 201 403 404 403 201", ONE_CLUSTER, note="one cluster"),
    Row(f"POST {LIST}/preview", "200 200 200 200 403 200", TIMES),
    Row(f"PATCH {ONE}", "200 200 403 404 403 200", {"note": "why"}),
    Row(f"DELETE {ONE}", "204 204 403 404 403 204"),
    Row(f"POST {ONE}/pause", "200 200 403 404 403 200"),
    Row(f"POST {ONE}/unpause", "200 200 403 404 403 200"),
    Row(f"POST {ONE}/run", "202 202 403 404 403 202"),
)
