"""Renews the authorities of clusters in time: a schedule as any other, of the service's own.

So it is listed with the others for administrators, who see its runs and can pause it; Temporal
starts each run once, however many workers there are; and maintenance windows hold for it.
"""

import structlog

from jeroboam.errors import ConflictError
from jeroboam.models import OperationKind
from jeroboam.models.schedule import Schedule, Selector, WhenBusy
from jeroboam.settings import Settings
from jeroboam.store import Store

OWNER = "jeroboam"
"""Stands for project and user of what nobody has asked for."""

NAME = "renew-certificates"
MOST_AT_ONCE = 2
DAY_MINUTES = 24 * 60

log = structlog.get_logger(__name__)


async def ensure_renewal(store: Store, settings: Settings) -> None:
    """Have the schedule as the settings say; whether it is paused is the administrators'."""
    wanted = _schedule(settings.certificate_renewal_days)
    found = await store.schedules.named(OWNER, NAME)
    try:
        if found and not settings.certificate_renewal_days:
            await store.schedules.mark_deleted(found.uuid)
        elif found and found.selector != wanted.selector:
            changed = found.model_copy(update={"selector": wanted.selector})
            await store.schedules.change(changed)
        elif not found and settings.certificate_renewal_days:
            await store.schedules.add(wanted, project_limit=1)
    except ConflictError:
        log.info("renewal_settled_by_another_worker")


def _schedule(days: int) -> Schedule:
    return Schedule(
        name=NAME,
        project_id=OWNER,
        user_id=OWNER,
        kind=OperationKind.ROTATE_CA,
        selector=Selector(certificates_end_within_days=days),
        all_projects=True,
        cron="0 2 * * *",
        jitter_seconds=60 * 60,
        max_parallel=MOST_AT_ONCE,
        when_busy=WhenBusy.WAIT,
        # Each window that opens on a day is met by the run of that day.
        wait_minutes=DAY_MINUTES,
    )
