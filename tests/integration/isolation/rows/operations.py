"""Operations, which are their project's."""

from tests.integration.isolation.row import Row

LIST = "/v1/operations"
ONE = "/v1/operations/{ident}"
APPROVE = {"approve": True}

#                                    owner member reader stranger nobody admin
ROWS = (
    Row(f"GET {LIST}", "200 200 200 200 403 200"),
    Row(f"GET {LIST}", "200 200 200 200 403 200", query="?cluster=<cluster>"),
    Row(f"GET {ONE}", "200 200 200 404 403 200"),
    Row(f"POST {ONE}/cancel", "202 202 403 404 403 202", about={"ident": "at work"}),
    Row(f"POST {ONE}/retry", "202 202 403 404 403 202", about={"ident": "failed"}),
    Row(f"POST {ONE}/resume", "202 202 403 404 403 202", about={"ident": "cancelled"}),
    Row(
        f"POST {ONE}/resume",
        "403 403 403 404 403 202",
        APPROVE,
        {"ident": "waiting"},
        note="approve",
    ),
    # The URL is the permission.
    Row(
        "POST /v1/operations/{operation}/hooks/{token}",
        "204 204 204 204 204 204",
        {"allow": True},
        {"operation": "waiting", "token": "token"},
        anonymous=204,
    ),
    Row(
        "POST /v1/operations/{operation}/hooks/{token}",
        "404 404 404 404 404 404",
        {"allow": True},
        {"operation": "at work", "token": "token"},
        note="of another operation",
        anonymous=404,
    ),
)
