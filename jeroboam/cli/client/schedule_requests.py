"""Bodies about schedules, and schedules in words. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from jeroboam.cli.client.arguments import batch_size_of, given, pairs, words
from jeroboam.cli.client.problems import UsageError
from jeroboam.cli.client.text import cell, date_of, minutes, seconds

Texts = Sequence[str] | None


def times_body(
    *,
    cron: str | None,
    at: Texts,
    time_zone: str | None,
    start: str | None = None,
    end: str | None = None,
) -> dict[str, Any]:
    """Return when a schedule comes.

    Args:
        at: Fields of the wall clock as ``field=value``, instead of ``cron``.

    Raises:
        UsageError: Both or neither are there, or a date is none.
    """
    if bool(cron) == bool(at):
        raise UsageError(
            "Say when: either --cron '30 3 * * sat', or --at hour=3 --at minute=30 "
            "--at day_of_week=sat."
        )
    calendar = {key.replace("-", "_"): value for key, value in pairs(at, "--at").items()}
    return given(
        cron=cron,
        calendar=calendar or None,
        time_zone=time_zone,
        start_at=start and date_of(start).isoformat(),
        end_at=end and date_of(end).isoformat(),
    )


def target_body(
    *,
    cluster: str | None,
    everything: bool,
    project: str | None,
    driver: str | None,
    label: Texts,
    certificates_end_within: int | None = None,
) -> dict[str, Any]:
    """Return which clusters are meant: one, or all that fit.

    Raises:
        UsageError: It is not said, or in two ways.
    """
    days = certificates_end_within
    selector = given(project_id=project, driver=driver, certificates_end_within_days=days)
    if label:
        selector["labels"] = pairs(label, "--label")
    chosen = bool(selector) or everything
    if bool(cluster) == chosen:
        raise UsageError(
            "Say which clusters: either --cluster for one, or --driver, --label, --project or "
            "--all for those that fit."
        )
    return {"cluster_id": cluster} if cluster else {"selector": selector}


def parameters_body(
    kind: str, *, node: Texts, node_group: Texts, batch_size: str | None, template: str | None
) -> dict[str, Any]:
    """Return what the operation is given.

    Raises:
        UsageError: Something does not go with the kind of operation.
    """
    if kind == "upgrade":
        _refuse(kind, {"--node": node, "--node-group": node_group})
        if template is None:
            raise UsageError("An upgrade needs --template.")
        if batch_size == "all":
            raise UsageError("An upgrade takes a number as --batch-size.")
        size = None if batch_size is None else batch_size_of(batch_size)
        return given(cluster_template=template, max_batch_size=size)
    _refuse(kind, {"--template": template})
    found = given(nodes=node, node_groups=node_group)
    return found if batch_size is None else {**found, "batch_size": batch_size_of(batch_size)}


def limits_body(
    *, jitter: str | None, catchup: str | None, wait: str | None, max_parallel: int | None
) -> dict[str, Any]:
    """Return what bounds a run."""
    return given(
        jitter_seconds=None if jitter is None else seconds(jitter),
        catchup_minutes=None if catchup is None else minutes(catchup),
        wait_minutes=None if wait is None else minutes(wait),
        max_parallel=max_parallel,
    )


def in_words(schedule: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schedule with its target and its times as people read them."""
    calendar = cell(schedule["calendar"]).replace("\n", " ")
    when = schedule["cron"] or calendar
    return {
        **schedule,
        "target": _target(schedule),
        "times": f"{when} {schedule['time_zone']}",
    }


def _target(schedule: Mapping[str, Any]) -> str:
    if schedule["cluster_id"]:
        return f"cluster {schedule['cluster_id']}"
    selector = schedule["selector"] or {}
    parts = [f"{name} {selector[key]}" for key, name in _CHOICES.items() if selector.get(key)]
    labels = [f"label {key}={value}" for key, value in (selector.get("labels") or {}).items()]
    return "clusters of " + ", ".join([*parts, *labels]) if parts or labels else "all clusters"


_CHOICES = {
    "project_id": "project",
    "driver": "driver",
    "certificates_end_within_days": "certificates that end within days:",
}


def _refuse(kind: str, options: Mapping[str, Any]) -> None:
    wrong = [name for name, value in options.items() if value]
    if wrong:
        raise UsageError(f"{wrong[0]} does not go with {words([kind])[0].replace('_', ' ')}.")
