"""``jeroboam schedule``: operations by the clock."""

import itertools
from typing import Annotated

import typer

from jeroboam.cli.client import schedule_requests as requests
from jeroboam.cli.client.arguments import ChangeOption, given, pairs, plain_values, words
from jeroboam.cli.client.commands import Run, command, group
from jeroboam.cli.client.problems import UsageError
from jeroboam.cli.client.questions import YesOption, confirm

app = group("Repeat operations by the clock, on one cluster or on all that fit.")

KINDS = ["rebuild", "soft_reboot", "hard_reboot", "upgrade", "check_health", "rotate_ca"]
LIST_COLUMNS = ("uuid", "name", "kind", "target", "times", "paused")
RUN_COLUMNS = ("scheduled_at", "cluster_name", "state", "operation_id", "reason")

Texts = list[str] | None
ScheduleArgument = Annotated[str, typer.Argument(metavar="SCHEDULE", help="Its name or uuid.")]
NoteOption = Annotated[str | None, typer.Option(help="Why, for the record.")]
CronOption = Annotated[
    str | None,
    typer.Option(help="Minute, hour, day of month, month, day of week: '30 3 * * sat'."),
]
AtOption = Annotated[
    Texts,
    typer.Option(
        metavar="FIELD=VALUE",
        help="Instead of --cron, a field of the wall clock: second, minute, hour, day_of_month, "
        "month, day_of_week or year; may be repeated.",
    ),
]
ZoneOption = Annotated[
    str | None, typer.Option(help="Whose clock counts, for example Europe/Berlin; else UTC.")
]
StartOption = Annotated[str | None, typer.Option(help="Nothing starts before this date.")]
EndOption = Annotated[str | None, typer.Option(help="Nothing starts after this date.")]


@app.command("create")
@command
def create(  # noqa: PLR0913 - each is an option of the command
    run: Run,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Unique in the project.")],
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="rebuild, soft-reboot, hard-reboot, upgrade, check-health or rotate-ca.",
            autocompletion=lambda: KINDS,
        ),
    ],
    *,
    cluster: Annotated[str | None, typer.Option(help="The one cluster that is meant.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All clusters of the project; an operator's: all.")
    ] = False,
    project: Annotated[str | None, typer.Option(help="Clusters of a project, by its id.")] = None,
    driver: Annotated[str | None, typer.Option(help="Clusters that this driver built.")] = None,
    label: Annotated[
        Texts, typer.Option(metavar="KEY=VALUE", help="Clusters with a label; may be repeated.")
    ] = None,
    certificates_end_within: Annotated[
        int | None, typer.Option(min=1, help="Clusters whose CAs end within so many days.")
    ] = None,
    cron: CronOption = None,
    at: AtOption = None,
    time_zone: ZoneOption = None,
    start: StartOption = None,
    end: EndOption = None,
    node: Annotated[Texts, typer.Option(help="A node of the cluster; may be repeated.")] = None,
    node_group: Annotated[Texts, typer.Option(help="A node group; may be repeated.")] = None,
    batch_size: Annotated[
        str | None, typer.Option(help="How many nodes at a time, or 'all'; by default one.")
    ] = None,
    template: Annotated[
        str | None, typer.Option(help="Of an upgrade: the cluster template to move to.")
    ] = None,
    max_parallel: Annotated[
        int | None, typer.Option(min=1, help="On how many clusters at a time; by default one.")
    ] = None,
    jitter: Annotated[
        str | None, typer.Option(help="Put each time off by up to this long: 90s, 15m.")
    ] = None,
    overlap: Annotated[
        str | None,
        typer.Option(
            help="When the last run is still at work: skip, buffer-one, buffer-all or allow-all."
        ),
    ] = None,
    catchup: Annotated[
        str | None, typer.Option(help="Make up for missed times up to this old: 4h.")
    ] = None,
    when_busy: Annotated[
        str | None, typer.Option(help="What to do with a busy cluster: wait or skip.")
    ] = None,
    wait: Annotated[
        str | None, typer.Option(help="How long to wait for a busy cluster or its window: 1h.")
    ] = None,
    paused: Annotated[bool, typer.Option("--paused", help="Start nothing yet.")] = False,
    note: NoteOption = None,
) -> None:
    """Create a schedule."""
    (kind,) = words([kind])
    body = {
        "name": name,
        "kind": kind,
        **requests.target_body(
            cluster=cluster,
            everything=everything,
            project=project,
            driver=driver,
            label=label,
            certificates_end_within=certificates_end_within,
        ),
        **requests.times_body(cron=cron, at=at, time_zone=time_zone, start=start, end=end),
        "parameters": requests.parameters_body(
            kind, node=node, node_group=node_group, batch_size=batch_size, template=template
        ),
        **requests.limits_body(
            jitter=jitter, catchup=catchup, wait=wait, max_parallel=max_parallel
        ),
        **given(
            overlap=overlap and words([overlap])[0],
            when_busy=when_busy and words([when_busy])[0],
            paused=paused or None,
            note=note,
        ),
    }
    run.screen.record(run.api.send("POST", "schedules", body=body).body)


@app.command("list")
@command
def list_schedules(
    run: Run,
    *,
    cluster: Annotated[str | None, typer.Option(help="Only those of a cluster.")] = None,
) -> None:
    """List schedules."""
    found = run.api.pages("schedules", query={"cluster": cluster})
    run.screen.rows([requests.in_words(one) for one in found], LIST_COLUMNS)


@app.command("show")
@command
def show(run: Run, schedule: ScheduleArgument) -> None:
    """Show a schedule with its next times and the runs at work."""
    run.screen.record(run.api.get("schedules", schedule))


@app.command("pause")
@command
def pause(run: Run, schedule: ScheduleArgument, *, note: NoteOption = None) -> None:
    """Pause a schedule; a run at work begins on no further clusters."""
    run.api.send("POST", "schedules", schedule, "pause", body=given(note=note))
    run.screen.say(f"Schedule {schedule} is paused.")


@app.command("unpause")
@command
def unpause(run: Run, schedule: ScheduleArgument, *, note: NoteOption = None) -> None:
    """Let a paused schedule go on; times that it missed are not made up for."""
    run.api.send("POST", "schedules", schedule, "unpause", body=given(note=note))
    run.screen.say(f"Schedule {schedule} goes on.")


@app.command("run")
@command
def run_now(run: Run, schedule: ScheduleArgument) -> None:
    """Start a run now, also of a paused schedule; maintenance windows hold all the same."""
    run.screen.say(run.api.send("POST", "schedules", schedule, "run").body["message"])


@app.command("runs")
@command
def runs(
    run: Run,
    schedule: ScheduleArgument,
    *,
    cluster: Annotated[str | None, typer.Option(help="Only those of a cluster.")] = None,
    state: Annotated[str | None, typer.Option(help="Only in this state.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many.")] = None,
) -> None:
    """List what became of each cluster in each run, the newest first."""
    query = {"cluster": cluster, "state": state, "limit": limit}
    found = run.api.pages("schedules", schedule, "runs", query=query)
    run.screen.rows(list(itertools.islice(found, limit)), RUN_COLUMNS)


@app.command("update")
@command
def update(run: Run, schedule: ScheduleArgument, *, change: ChangeOption = None) -> None:
    """Change what is named of a schedule: --set cron='30 4 * * sun' --set note=null."""
    if not change:
        raise UsageError("Say what to change: --set FIELD=VALUE.")
    body = plain_values(pairs(change, "--set"))
    run.screen.record(run.api.send("PATCH", "schedules", schedule, body=body).body)


@app.command("delete")
@command
def delete(run: Run, schedule: ScheduleArgument, *, yes: YesOption = False) -> None:
    """Delete a schedule; operations at work go on, clusters that wait for their turn do not."""
    if not yes:
        confirm(f"Delete schedule {schedule}?")
    run.api.send("DELETE", "schedules", schedule)
    run.screen.say(f"Schedule {schedule} is deleted.")


@app.command("preview")
@command
def preview(
    run: Run,
    schedule: Annotated[
        str | None,
        typer.Argument(metavar="SCHEDULE", help="Its name or uuid; without one, see --cron."),
    ] = None,
    *,
    cron: CronOption = None,
    at: AtOption = None,
    time_zone: ZoneOption = None,
    start: StartOption = None,
    end: EndOption = None,
    count: Annotated[int, typer.Option(min=1, max=10, help="How many times to show.")] = 10,
) -> None:
    """Show when a schedule comes next, or when one with such times would."""
    if schedule:
        body = run.api.get("schedules", schedule, "preview", query={"count": count})
    else:
        times = requests.times_body(cron=cron, at=at, time_zone=time_zone, start=start, end=end)
        sent = {**times, "count": count}
        body = run.api.send("POST", "schedules", "preview", body=sent).body
    run.screen.rows([{"time": time} for time in body["times"]], ("time",))
