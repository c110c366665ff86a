"""Requests to the engines that run in clusters: one activity, which calls a driver's route."""

from pydantic import ValidationError
from temporalio import activity

from jeroboam import sealing
from jeroboam.activities import threads
from jeroboam.activities.dependencies import Dependencies, context_of
from jeroboam.drivers.coe_api import CoeCall, route_of
from jeroboam.errors import ClusterTimeoutError, DriverContractError, InvalidRequestError
from jeroboam.models.coe_wire import CoeAnswer, CoeRequest

HANDLER_SECONDS = 25.0
"""What a route has to answer; somebody waits for it at the other end of an HTTP connection."""


class CoeActivities:
    """Calls drivers' routes.

    Args:
        dependencies: What activities are made of.
    """

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies

    @activity.defn
    async def call_coe(self, request: CoeRequest) -> CoeAnswer:
        """Have the driver of a cluster answer a request, sealed for whoever asked."""
        spec = await self._dependencies.store.clusters.spec(request.cluster_id)
        driver = self._dependencies.drivers.installed(spec.cluster.driver)
        route = route_of(driver, request.coe, request.verb, request.path)
        try:
            wish = route.request.model_validate(request.body)
        except ValidationError as error:
            raise InvalidRequestError(
                f"The driver {driver.name} takes no such request: {_told(error)}."
            ) from None
        key = f"{request.cluster_id}:{request.request_id}"
        context = context_of(self._dependencies, spec, key)
        call = CoeCall(context, spec, request.caller, request.arguments)
        try:
            answer = await threads.call(route.handler, call, wish, within=HANDLER_SECONDS)
        except threads.StillRunning:
            raise ClusterTimeoutError(
                f"The cluster did not answer within {HANDLER_SECONDS:g} seconds."
            ) from None
        if not isinstance(answer, route.answer):
            raise DriverContractError(f"{request.verb} {request.path} returned no answer.")
        return CoeAnswer(sealed=sealing.seal(request.reply_to, answer.model_dump_json().encode()))


def _told(error: ValidationError) -> str:
    """Return which fields are wrong and why, without what was in them."""
    wrong = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in wrong[:5])
