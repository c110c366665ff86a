"""What needs no token, and what belongs to nobody."""

from tests.integration.isolation.row import Row

#                                                  owner member reader stranger nobody admin
ROWS = (
    Row("GET /", "200 200 200 200 200 200", shared=True, anonymous=200),
    Row("GET /v1", "200 200 200 200 200 200", shared=True, anonymous=200),
    Row("GET /healthcheck", "200 200 200 200 200 200", shared=True, anonymous=200),
    Row("GET /openapi.json", "200 200 200 200 200 200", shared=True, anonymous=200),
    Row("GET /v1/mservices", "403 403 403 403 403 200", shared=True),
)
