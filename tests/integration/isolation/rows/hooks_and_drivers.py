"""Hooks, which are the administrators'; drivers, which are everybody's to see."""

from tests.integration.api.hooks import ALLOWED, SECRET
from tests.integration.isolation.row import Row

LIST = "/v1/hooks"
ONE = "/v1/hooks/{ident}"
HOOK = {
    "name": "mine",
    "source": "webhook",
    "url": f"{ALLOWED}/y",
    "phases": ["before"],
    "secret": SECRET,
}

#                                    owner member reader stranger nobody admin
ROWS = (
    Row(f"GET {LIST}", "403 403 403 403 403 200"),
    Row(f"GET {ONE}", "403 403 403 403 403 200"),
    Row(f"POST {LIST}", "403 403 403 403 403 201", HOOK),
    Row(f"PATCH {ONE}", "403 403 403 403 403 200", {"enabled": False}),
    Row(f"DELETE {ONE}", "403 403 403 403 403 204"),
    Row("GET /v1/drivers", "200 200 200 200 403 200", shared=True),
    Row("GET /v1/drivers/{name}", "200 200 200 200 403 200", shared=True),
)
