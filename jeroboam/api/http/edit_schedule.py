"""Makes and changes schedules, with all that is checked before."""

from collections.abc import Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from jeroboam.api.http import node_work, upgrades
from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.api.http.schedule_times import check_times
from jeroboam.api.http.schemas import schedule as schema
from jeroboam.api.http.schemas.action import NodeWork, Upgrade
from jeroboam.api.http.schemas.base import RequestModel
from jeroboam.drivers.base import SupportsUpgrade
from jeroboam.errors import InvalidRequestError, NotAuthorizedError
from jeroboam.models import Cluster, Operation, OperationKind, Parameters
from jeroboam.models.lifecycle import USABLE
from jeroboam.models.schedule import Schedule, Selector
from jeroboam.store import Scope

OPERATION_RULES: Mapping[OperationKind, str] = {
    OperationKind.REBUILD: "cluster:rebuild",
    OperationKind.SOFT_REBOOT: "cluster:reboot",
    OperationKind.HARD_REBOOT: "cluster:reboot",
    OperationKind.UPGRADE: "cluster:upgrade",
    OperationKind.CHECK_HEALTH: "cluster:check_health",
    OperationKind.ROTATE_CA: "certificate:rotate_ca",
}
ALL_PROJECTS_RULE = "schedule:all_projects"

_ALTERNATIVES = {
    "cron": "calendar",
    "calendar": "cron",
    "cluster_id": "selector",
    "selector": "cluster_id",
}


async def new_schedule(
    dependencies: Dependencies, caller: Caller, body: schema.ScheduleCreate
) -> Schedule:
    """Return a schedule that may be stored.

    Raises:
        JeroboamError: Something in it does not fit; the message says what would.
    """
    draft = Schedule(
        name=body.name,
        project_id=caller.identity.project_id,
        user_id=caller.identity.user_id,
        kind=OperationKind(body.kind),
    )
    return await _specified(dependencies, caller, draft, body)


async def changed_schedule(
    dependencies: Dependencies, caller: Caller, schedule: Schedule, patch: Mapping[str, Any]
) -> Schedule:
    """Return a schedule as a request changes it; ``null`` returns to the default.

    Raises:
        JeroboamError: The outcome does not fit; the message says what would.
    """
    values = _given(schedule)
    for name, value in patch.items():
        if name not in schema.ScheduleBody.model_fields:
            raise InvalidRequestError(
                "The name of a schedule cannot change. Create one with another name."
                if name == "name"
                else f"Unknown attribute: {name}"
            )
        if value is None:
            values.pop(name, None)
            continue
        values[name] = value
        if _ALTERNATIVES.get(name) not in patch:
            values.pop(_ALTERNATIVES.get(name, ""), None)
        if name == "kind" and value != schedule.kind and "parameters" not in patch:
            values.pop("parameters", None)
    body = _validated(schema.ScheduleBody, values)
    return await _specified(dependencies, caller, schedule, body)


def require_reach(dependencies: Dependencies, caller: Caller, schedule: Schedule) -> None:
    """Let only those touch a schedule that reaches beyond its project who may make such.

    Raises:
        NotAuthorizedError: The caller may not.
    """
    if schedule.all_projects:
        dependencies.authorizer.require(ALL_PROJECTS_RULE, caller.identity)


async def _specified(
    dependencies: Dependencies, caller: Caller, draft: Schedule, body: schema.ScheduleBody
) -> Schedule:
    check_times(dependencies.settings, body, paused=body.paused)
    kind = OperationKind(body.kind)
    if (body.cluster_id is None) == (body.selector is None):
        raise InvalidRequestError(
            "Give either 'cluster_id', for one cluster, or 'selector', for all that fit; an empty "
            "selector is every cluster of the project."
        )
    dependencies.authorizer.require(OPERATION_RULES[kind], caller.identity, draft)
    cluster = await _cluster(dependencies, caller, kind, body)
    selector = _selector(dependencies, caller, draft, body)
    plain = body.model_dump(
        include=set(Schedule.model_fields) - {"parameters", "cluster_id", "selector", "calendar"}
    )
    changed = Schedule.model_validate(
        draft.model_dump()
        | plain
        | {
            "calendar": body.calendar.fields() if body.calendar else None,
            "cluster_id": cluster.uuid if cluster else None,
            "selector": selector,
            "all_projects": _reaches_beyond(draft.project_id, cluster, selector),
            "parameters": await _parameters(dependencies, caller, draft, cluster, kind, body),
        }
    )
    require_reach(dependencies, caller, changed)
    if cluster is not None:
        await _check_ability(dependencies, changed, cluster)
    return changed


async def _cluster(
    dependencies: Dependencies, caller: Caller, kind: OperationKind, body: schema.ScheduleBody
) -> Cluster | None:
    if body.cluster_id is None:
        return None
    cluster = await dependencies.store.clusters.get(body.cluster_id, caller.scope)
    dependencies.authorizer.require(OPERATION_RULES[kind], caller.identity, cluster)
    return cluster


def _selector(
    dependencies: Dependencies, caller: Caller, draft: Schedule, body: schema.ScheduleBody
) -> Selector | None:
    """Return the choice; that of somebody who may not see other projects stays in the own one."""
    if body.selector is None:
        return None
    selector = Selector(**body.selector.model_dump())
    if selector.driver is not None:
        dependencies.drivers.installed(selector.driver)
    if dependencies.authorizer.permits(ALL_PROJECTS_RULE, caller.identity):
        return selector
    if selector.project_id not in {None, draft.project_id}:
        raise NotAuthorizedError(
            f"Policy doesn't allow {ALL_PROJECTS_RULE} to be performed: a selector of yours "
            f"chooses among the clusters of your project {draft.project_id}."
        )
    return selector.model_copy(update={"project_id": draft.project_id})


def _reaches_beyond(project: str, cluster: Cluster | None, selector: Selector | None) -> bool:
    chosen = cluster.project_id if cluster else selector and selector.project_id
    return chosen != project


async def _parameters(
    dependencies: Dependencies,
    caller: Caller,
    draft: Schedule,
    cluster: Cluster | None,
    kind: OperationKind,
    body: schema.ScheduleBody,
) -> Parameters:
    given = _validated(schema.PARAMETERS[kind], body.parameters, "parameters")
    if isinstance(given, NodeWork):
        if cluster is None:
            return _of_many(given)
        return node_work.parameters(await dependencies.store.clusters.spec(cluster.uuid), given)
    if isinstance(given, schema.UpgradeParameters):
        if cluster is not None:
            spec = await dependencies.store.clusters.spec(cluster.uuid)
            wish = Upgrade(**given.model_dump())
            return await upgrades.parameters(dependencies, caller, spec, wish)
        scope = caller.scope if caller.identity.is_admin else Scope(draft.project_id)
        template = await dependencies.store.templates.get(given.cluster_template, scope)
        return Parameters(cluster_template_id=template.uuid, batch_size=given.max_batch_size or 1)
    return Parameters()


def _of_many(given: NodeWork) -> Parameters:
    """Return parameters for whatever clusters fit; groups of the same name mean the same there."""
    if given.nodes:
        raise InvalidRequestError(
            "'nodes' are those of one cluster; with a selector, choose 'node_groups' by name."
        )
    return Parameters(node_groups=tuple(given.node_groups or ()), batch_size=given.batch_size)


async def _check_ability(dependencies: Dependencies, schedule: Schedule, cluster: Cluster) -> None:
    """Ask the driver whether it can do it at all; a cluster that is not up is asked at its time."""
    if schedule.kind is OperationKind.UPGRADE:
        # Which versions may follow each other is to be seen when the time has come.
        if not isinstance(dependencies.drivers.installed(cluster.driver), SupportsUpgrade):
            raise InvalidRequestError(
                f"The driver {cluster.driver} of this cluster cannot upgrade. "
                "Ask your operator which drivers can."
            )
        return
    if cluster.status not in USABLE:
        return
    await dependencies.planner.plan(
        Operation(
            kind=schedule.kind,
            cluster_id=cluster.uuid,
            cluster_name=cluster.name,
            project_id=cluster.project_id,
            user_id=schedule.user_id,
            request_id="",
            parameters=schedule.parameters,
        )
    )


def _given(schedule: Schedule) -> dict[str, Any]:
    """Return a schedule as a request would have it."""
    values: dict[str, Any] = schedule.model_dump(
        mode="json", include=set(schema.ScheduleBody.model_fields), exclude_none=True
    )
    values["parameters"] = schema.parameters(schedule)
    return values


def _validated(kind: type[Any], values: Mapping[str, Any], *where: str) -> Any:
    try:
        model: RequestModel = kind.model_validate(values)
    except ValidationError as error:
        details = error.errors(include_url=False)
        raise RequestValidationError(
            [{**detail, "loc": ("body", *where, *detail["loc"])} for detail in details]
        ) from None
    return model
