"""``/v1/mservices``."""

from datetime import timedelta

from fastapi import APIRouter

from jeroboam.api.http.dependencies import CurrentCaller, Injected
from jeroboam.api.http.paging import no_arguments
from jeroboam.api.http.schemas.service import ServiceBody, ServiceList
from jeroboam.models import utc_now

DOWN_AFTER = timedelta(seconds=180)
"""Magnum's ``service_down_time``."""

router = APIRouter(prefix="/v1/mservices", tags=["services"])


@router.get("", dependencies=[no_arguments])
async def list_services(dependencies: Injected, caller: CurrentCaller) -> ServiceList:
    """List the worker processes that ever reported."""
    dependencies.authorizer.require("magnum-service:get_all", caller.identity)
    oldest = utc_now() - DOWN_AFTER
    return ServiceList(
        mservices=[
            ServiceBody(
                **record.model_dump(),
                state="up" if record.last_seen >= oldest else "down",
            )
            for record in await dependencies.store.services.list()
        ]
    )
