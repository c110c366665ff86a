"""Clusters, what is done to them, and what is known of them."""

from tests.integration.isolation.row import Row

LIST = "/v1/clusters"
ONE = "/v1/clusters/{ident}"
OF = "/v1/clusters/{cluster}"
ACT = f"{OF}/actions"

OWN = {"name": "mine", "cluster_template_id": "<shared>"}
FROM_HIDDEN = {"name": "mine", "cluster_template_id": "<template>"}
SIZE = [{"op": "replace", "path": "/node_count", "value": 2}]
HEALTH = [{"op": "replace", "path": "/health_status", "value": "HEALTHY"}]
PAIR = {"certificate": "x", "private_key": "x"}
WINDOW = {"start": "04:00", "duration_minutes": 60}

#                                 owner member reader stranger nobody admin
ROWS = (
    Row(f"GET {LIST}", "200 200 200 200 403 200"),
    Row(f"GET {LIST}/detail", "200 200 200 200 403 200"),
    Row(f"GET {ONE}", "200 200 200 404 403 200"),
    Row(f"POST {LIST}", "202 202 403 202 403 202", OWN, note="a public template"),
    # As in Magnum, an administrator's create looks for the template in the token's project.
    Row(f"POST {LIST}", "202 202 403 404 403 404", FROM_HIDDEN, note="a project's template"),
    Row(f"PATCH {ONE}", "202 202 403 404 403 202", SIZE),
    # The rule is asked without a target, as in Magnum: the healer is not who made the cluster.
    Row(f"PATCH {ONE}", "202 202 403 404 403 202", HEALTH, note="health"),
    Row(f"DELETE {ONE}", "204 204 403 404 403 204"),
    Row(f"DELETE {ONE}", "403 403 403 404 403 204", query="?force=true"),
    Row(f"POST {ACT}/resize", "202 202 403 404 403 202", {"node_count": 2}),
    Row(f"POST {ACT}/upgrade", "202 202 403 404 403 202", {"cluster_template": "<newer>"}),
    Row(f"POST {ACT}/rebuild", "202 202 403 404 403 202"),
    Row(f"POST {ACT}/reboot", "202 202 403 404 403 202", {"type": "soft"}),
    Row(f"POST {ACT}/check_health", "202 202 403 404 403 202"),
    # Nothing that could be imported is here: it is the driver that says so, to whoever may ask.
    Row(f"POST {LIST}/import", "400 400 403 400 403 400", {"stack_id": "old"}),
    Row(f"PUT {OF}/keys", "400 400 403 404 403 400", {"kubernetes": PAIR}),
    Row(f"GET {OF}/operations", "200 200 200 404 403 200"),
    Row(f"GET {OF}/driver", "200 200 200 404 403 200", shared=True),
    Row(f"GET {OF}/usage", "200 200 200 404 403 200", shared=True),
    Row(f"GET {OF}/maintenance_window", "200 200 200 404 403 200", shared=True),
    Row(f"PUT {OF}/maintenance_window", "200 200 403 404 403 200", WINDOW),
    Row(f"DELETE {OF}/maintenance_window", "204 204 403 404 403 204"),
)
