"""Routes of Magnum that Jeroboam does not serve: they say so, after Magnum's own gates."""

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException

from jeroboam.api.http import versions
from jeroboam.api.http.gates import since

NOT_SERVED = 501

router = APIRouter(prefix="/v1", include_in_schema=False)


async def _not_served(request: Request) -> None:
    raise HTTPException(
        NOT_SERVED,
        f"{request.method} {request.url.path} is not available in this version of the service.",
    )


_GATED = (("PATCH", "/credentials/{ident}", since(versions.CREDENTIALS, "patch")),)
_UNGATED = (
    ("PATCH", "/certificates/{ident}"),
)

for _method, _path, _gate in _GATED:
    router.add_api_route(_path, _not_served, methods=[_method], dependencies=[_gate])
for _method, _path in _UNGATED:
    router.add_api_route(_path, _not_served, methods=[_method])
