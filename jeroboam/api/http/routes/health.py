"""Whether the service works; public, so it gives nothing away."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import structlog
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from jeroboam.api.http.dependencies import Probe

PROBE_SECONDS = 3.0
REUSE_SECONDS = 2.0

router = APIRouter(tags=["health"])
log = structlog.get_logger(__name__)


class HealthChecks:
    """Asks all services at once, and not again for each of a crowd of requests."""

    def __init__(self, probes: Mapping[str, Probe]) -> None:
        self._probes = probes
        self._lock = asyncio.Lock()
        self._asked_at = float("-inf")
        self._answers: dict[str, bool] = {}

    async def answers(self) -> dict[str, bool]:
        """Return for each service whether it answers."""
        async with self._lock:
            if time.monotonic() - self._asked_at > REUSE_SECONDS:
                outcomes = await asyncio.gather(*map(_answers, self._probes.items()))
                self._answers = dict(zip(self._probes, outcomes, strict=True))
                self._asked_at = time.monotonic()
            return dict(self._answers)


@router.get("/healthcheck")
async def healthcheck(request: Request, detailed: str | None = None) -> Response:
    """Answer 200 when the process serves; with ``?detailed``, whether its services do too."""
    if detailed is None:
        return PlainTextResponse("OK")
    checks: HealthChecks = request.app.state.health
    answers = await checks.answers()
    healthy = all(answers.values())
    body: dict[str, Any] = {
        "status": "ok" if healthy else "unavailable",
        "services": {name: "ok" if fine else "unavailable" for name, fine in answers.items()},
    }
    return JSONResponse(body, status_code=200 if healthy else 503)


async def _answers(named: tuple[str, Probe]) -> bool:
    name, probe = named
    try:
        await asyncio.wait_for(probe(), PROBE_SECONDS)
    except Exception:
        log.warning("probe_failed", service=name, exc_info=True)
        return False
    return True
