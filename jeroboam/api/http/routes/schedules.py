"""``/v1/schedules``: operations by the clock, and what became of them."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

import structlog
from fastapi import APIRouter, Body, Depends, Query, Response

from jeroboam.api.http import edit_schedule, schedule_times
from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import CurrentCaller, CurrentLinks, Dependencies, Injected
from jeroboam.api.http.operation_filters import cluster_of
from jeroboam.api.http.paging import (
    LIST_ARGUMENTS,
    CurrentPaging,
    NewestFirst,
    no_arguments,
    only_arguments,
)
from jeroboam.api.http.schemas import schedule as schema
from jeroboam.errors import CloudUnavailableError, InvalidRequestError
from jeroboam.models.schedule import MOST_TIMES, Doings, RunState, Schedule
from jeroboam.settings import Settings

router = APIRouter(prefix="/v1/schedules", tags=["schedules"])

Count = Annotated[int, Query(ge=1, le=MOST_TIMES)]


@router.get("", dependencies=[Depends(only_arguments(*LIST_ARGUMENTS, "cluster"))])
async def list_schedules(
    dependencies: Injected,
    caller: CurrentCaller,
    paging: CurrentPaging,
    links: CurrentLinks,
    cluster: str | None = None,
) -> schema.ScheduleList:
    """List the caller's schedules, of one cluster if asked."""
    dependencies.authorizer.require("schedule:get_all", caller.identity)
    dependencies.authorizer.require_for_all_projects(
        "schedule:get_all_all_projects", caller.identity
    )
    cluster_id = await cluster_of(dependencies, caller, cluster) if cluster else None
    found = await dependencies.store.schedules.list(caller.scope, paging.page, cluster_id)
    return schema.ScheduleList(
        schedules=[schema.ScheduleSummary.of(one, links) for one in found],
        **paging.next_link(found, "schedules", cluster=cluster_id),
    )


@router.post("", status_code=201, dependencies=[no_arguments])
async def create_schedule(
    body: schema.ScheduleCreate,
    response: Response,
    dependencies: Injected,
    caller: CurrentCaller,
    links: CurrentLinks,
) -> schema.ScheduleSummary:
    """Create a schedule; it counts even when Temporal learns of it later."""
    dependencies.authorizer.require("schedule:create", caller.identity)
    schedule = await edit_schedule.new_schedule(dependencies, caller, body)
    limit = dependencies.settings.max_schedules_per_project
    await dependencies.store.schedules.add(schedule, project_limit=limit)
    response.headers["Location"] = links.url("schedules", schedule.uuid)
    return await _told(dependencies, schedule, links)


@router.post("/preview", dependencies=[no_arguments])
async def preview_times(
    body: schema.PreviewBody, dependencies: Injected, caller: CurrentCaller
) -> schema.Preview:
    """Show when a schedule with these times would come next; nothing is stored."""
    dependencies.authorizer.require("schedule:preview", caller.identity)
    schedule_times.check_times(dependencies.settings, body)
    draft = schedule_times.as_schedule(body)
    return schema.Preview.of(draft, await dependencies.schedules.preview(draft), body.count)


@router.get("/{ident}", dependencies=[no_arguments])
async def show_schedule(
    ident: str, dependencies: Injected, caller: CurrentCaller, links: CurrentLinks
) -> schema.ScheduleDetail:
    """Show one schedule, with its next times and the runs at work."""
    schedule = await _permitted(dependencies, caller, ident, "schedule:get")
    sees_run = dependencies.authorizer.permits("operation:get_run", caller.identity)
    url = _temporal_url(dependencies.settings, schedule) if sees_run else None
    return schema.ScheduleDetail.build(schedule, await _doings(dependencies, schedule), links, url)


@router.patch("/{ident}", dependencies=[no_arguments])
async def change_schedule(
    ident: str,
    patch: Annotated[Mapping[str, Any], Body()],
    dependencies: Injected,
    caller: CurrentCaller,
    links: CurrentLinks,
) -> schema.ScheduleSummary:
    """Change what the body names of a schedule; ``null`` returns to the default."""
    schedule = await _writable(dependencies, caller, ident, "schedule:update")
    changed = await edit_schedule.changed_schedule(dependencies, caller, schedule, patch)
    if changed == schedule:
        return schema.ScheduleSummary.of(schedule, links)
    return await _told(dependencies, await dependencies.store.schedules.change(changed), links)


@router.delete("/{ident}", status_code=204, dependencies=[no_arguments])
async def delete_schedule(ident: str, dependencies: Injected, caller: CurrentCaller) -> None:
    """Delete a schedule; operations at work go on, clusters that wait for their turn do not."""
    schedule = await _writable(dependencies, caller, ident, "schedule:delete")
    await dependencies.store.schedules.mark_deleted(schedule.uuid)
    await dependencies.schedules.try_sync(schedule.uuid)


@router.post("/{ident}/pause", dependencies=[no_arguments])
async def pause_schedule(
    ident: str,
    dependencies: Injected,
    caller: CurrentCaller,
    links: CurrentLinks,
    body: schema.Note | None = None,
) -> schema.ScheduleSummary:
    """Pause a schedule; a run at work begins on no further clusters."""
    schedule = await _writable(dependencies, caller, ident, "schedule:pause")
    return await _paused(
        dependencies, schedule, links, paused=True, note=body.note if body else None
    )


@router.post("/{ident}/unpause", dependencies=[no_arguments])
async def unpause_schedule(
    ident: str,
    dependencies: Injected,
    caller: CurrentCaller,
    links: CurrentLinks,
    body: schema.Note | None = None,
) -> schema.ScheduleSummary:
    """Let a paused schedule go on; times that it missed are not made up for."""
    schedule = await _writable(dependencies, caller, ident, "schedule:pause")
    return await _paused(
        dependencies, schedule, links, paused=False, note=body.note if body else None
    )


@router.post("/{ident}/run", status_code=202, dependencies=[no_arguments])
async def run_schedule(
    ident: str, dependencies: Injected, caller: CurrentCaller
) -> schema.Triggered:
    """Start a run now, also of a paused schedule; maintenance windows hold all the same."""
    schedule = await _writable(dependencies, caller, ident, "schedule:run")
    rule = edit_schedule.OPERATION_RULES[schedule.kind]
    dependencies.authorizer.require(rule, caller.identity, schedule)
    await dependencies.schedules.trigger(schedule)
    return schema.Triggered(
        uuid=schedule.uuid,
        message="A run was started. The schedule's runs show what becomes of each cluster.",
    )


@router.get(
    "/{ident}/runs", dependencies=[Depends(only_arguments(*LIST_ARGUMENTS, "cluster", "state"))]
)
async def list_runs(
    ident: str,
    dependencies: Injected,
    caller: CurrentCaller,
    paging: NewestFirst,
    cluster: str | None = None,
    state: str | None = None,
) -> schema.RunList:
    """List what became of each cluster in each run, newest first."""
    schedule = await _permitted(dependencies, caller, ident, "schedule:get")
    cluster_id = await cluster_of(dependencies, caller, cluster) if cluster else None
    wanted = _state(state) if state else None
    found = await dependencies.store.schedule_runs.list(
        schedule.uuid, paging.page, cluster_id=cluster_id, state=wanted
    )
    path = ("schedules", schedule.uuid, "runs")
    return schema.RunList(
        runs=[schema.RunBody.of(run) for run in found],
        **paging.next_link(found, *path, cluster=cluster_id, state=wanted),
    )


@router.get("/{ident}/preview", dependencies=[Depends(only_arguments("count"))])
async def preview_schedule(
    ident: str, dependencies: Injected, caller: CurrentCaller, count: Count = MOST_TIMES
) -> schema.Preview:
    """Show when a schedule comes next, jitter included; while it is paused, when it would."""
    schedule = await _permitted(dependencies, caller, ident, "schedule:get")
    times = await dependencies.schedules.next_times(schedule)
    return schema.Preview.of(schedule, times, count)


async def _permitted(dependencies: Dependencies, caller: Caller, ident: str, rule: str) -> Schedule:
    dependencies.authorizer.require_for_all_projects(
        "schedule:get_one_all_projects", caller.identity
    )
    schedule = await dependencies.store.schedules.get(ident, caller.scope)
    structlog.contextvars.bind_contextvars(schedule_id=schedule.uuid)
    dependencies.authorizer.require(rule, caller.identity, schedule)
    return schedule


async def _writable(dependencies: Dependencies, caller: Caller, ident: str, rule: str) -> Schedule:
    schedule = await _permitted(dependencies, caller, ident, rule)
    edit_schedule.require_reach(dependencies, caller, schedule)
    return schedule


async def _paused(
    dependencies: Dependencies,
    schedule: Schedule,
    links: CurrentLinks,
    *,
    paused: bool,
    note: str | None,
) -> schema.ScheduleSummary:
    wanted = schedule.model_copy(update={"paused": paused, "note": note or schedule.note})
    if wanted == schedule:
        return schema.ScheduleSummary.of(schedule, links)
    return await _told(dependencies, await dependencies.store.schedules.change(wanted), links)


async def _told(
    dependencies: Dependencies, schedule: Schedule, links: CurrentLinks
) -> schema.ScheduleSummary:
    """Tell Temporal of a change, and the caller whether it has heard."""
    await dependencies.schedules.try_sync(schedule.uuid)
    stored = await dependencies.store.schedules.stored(schedule.uuid)
    return schema.ScheduleSummary.of(stored or schedule, links)


async def _doings(dependencies: Dependencies, schedule: Schedule) -> Doings | None:
    try:
        return await dependencies.schedules.doings(schedule)
    except CloudUnavailableError:
        return None


def _temporal_url(settings: Settings, schedule: Schedule) -> str:
    base = settings.temporal_ui_url.rstrip("/")
    ident = quote(schedule.temporal_id, safe="")
    namespace = quote(settings.temporal_namespace, safe="")
    return f"{base}/namespaces/{namespace}/schedules/{ident}"


def _state(text: str) -> RunState:
    try:
        return RunState(text.upper())
    except ValueError:
        raise InvalidRequestError(
            f"Unknown state '{text[:100]}'. There are: {', '.join(RunState)}."
        ) from None
