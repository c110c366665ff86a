"""Cluster templates. Of other projects there are only the public ones."""

from tests.integration.isolation.row import Row

BODY = {"name": "mine", "coe": "kubernetes", "image_id": "fake-image"}
NAME = [{"op": "replace", "path": "/name", "value": "renamed"}]
PUBLIC = [{"op": "replace", "path": "/public", "value": "true"}]
LIST = "/v1/clustertemplates"
ONE = "/v1/clustertemplates/{ident}"
UNUSED = {"ident": "unused"}

#                             owner member reader stranger nobody admin
ROWS = (
    Row(f"GET {LIST}", "200 200 200 200 403 200"),
    Row(f"GET {LIST}/detail", "200 200 200 200 403 200"),
    Row(f"GET {ONE}", "200 200 200 404 403 200"),
    Row(f"POST {LIST}", "201 201 403 201 403 201", BODY),
    Row(f"POST {LIST}", "403 403 403 403 403 201", BODY | {"public": True}, note="public"),
    Row(f"PATCH {ONE}", "200 200 403 404 403 200", NAME, UNUSED),
    Row(f"PATCH {ONE}", "403 403 403 404 403 200", PUBLIC, UNUSED, note="publish"),
    Row(f"DELETE {ONE}", "204 204 403 404 403 204", None, UNUSED),
)
