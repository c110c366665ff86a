"""The first cluster: its template, its creation, and looking on until it is complete."""

import asyncio
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jeroboam.models import Operation, StepState
from jeroboam.models.wire import workflow_id
from jeroboam.settings import Settings
from jeroboam.store import Page, Scope, Store
from quickstart.board import Board, State, Step
from quickstart.errors import QuickstartError
from quickstart.layout import Layout
from quickstart.tenant import Tenant, in_words

TEMPLATE = "kubernetes"
CLUSTER_PREFIX = "demo-"
LOOK_SECONDS = 1.0
PATIENCE_SECONDS = 900.0

TEMPLATE_ARGUMENTS = (
    *("coe", "cluster", "template", "create", TEMPLATE, "--coe", "kubernetes"),
    *("--image", "fedora-coreos", "--external-network", "public", "--keypair", "demo"),
    *("--master-flavor", "m1.small", "--flavor", "m1.medium"),
)

STATES = {
    StepState.PENDING: State.WAITING,
    StepState.RUNNING: State.WORKING,
    StepState.SUCCEEDED: State.DONE,
    StepState.FAILED: State.FAILED,
    StepState.WARNED: State.WARNED,
    StepState.CANCELLED: State.WARNED,
}


@dataclass(frozen=True)
class Outcome:
    """The cluster that is there in the end.

    Attributes:
        cluster: As the API shows it.
        workflow: Id of the workflow that made it.
        run_id: Which run that was, if it is known.
        created: Whether this quickstart saw it being created.
    """

    cluster: Any
    workflow: str
    run_id: str | None
    created: bool

    @property
    def complete(self) -> bool:
        """Whether the cluster can be used."""
        return str(self.cluster.status).endswith("_COMPLETE")


class Demo:
    """A tenant who wants a cluster.

    Args:
        layout: Where everything is.
        board: Where the progress goes.
    """

    def __init__(self, layout: Layout, board: Board) -> None:
        self._board = board
        self._tenant = Tenant(layout)
        self._settings = Settings(state_directory=layout.home)
        self._lines: dict[str, Step] = {}

    async def ensure_template(self, step: Step) -> None:
        """Create the cluster template, unless it is there."""
        if TEMPLATE in await self._tenant.templates():
            self._board.update(step, State.DONE, f"{TEMPLATE} is there already")
            return
        self._board.update(step, detail=in_words(TEMPLATE_ARGUMENTS))
        await self._tenant.openstack(*TEMPLATE_ARGUMENTS)
        self._board.update(step, State.DONE, TEMPLATE)

    async def ensure_cluster(self, step: Step, *, new: bool) -> Outcome:
        """Create a cluster unless there is one, and look on until it is ready.

        Args:
            step: The line of the list that stands for it.
            new: Create one even if there is one.

        Raises:
            QuickstartError: It takes too long, or the API refuses.
        """
        ours = sorted(filter(_is_ours, await self._tenant.clusters()), key=_number)
        newest = ours[-1] if ours else None
        if newest is None or new or str(newest.status).endswith("_FAILED"):
            return await self._create(step, newest, new=new)
        if str(newest.status).endswith("_COMPLETE"):
            self._board.update(step, detail=f"{newest.name} is there already: {newest.status}")
            return await self._outcome(newest, created=False)
        return await self._look_on(step, newest.name)

    async def _create(self, step: Step, before: Any, *, new: bool) -> Outcome:
        name = f"{CLUSTER_PREFIX}{_number(before) + 1 if before else 1}"
        if before and not new:
            said = self._board.add(f"{before.name} is {before.status}")
            self._board.update(said, State.WARNED, str(before.status_reason or ""))
        arguments = (
            *("coe", "cluster", "create", name, "--cluster-template", TEMPLATE),
            *("--master-count", "1", "--node-count", "2"),
        )
        self._board.update(step, detail=in_words(arguments))
        await self._tenant.openstack(*arguments)
        return await self._look_on(step, name)

    async def _look_on(self, step: Step, name: str) -> Outcome:
        deadline = time.monotonic() + PATIENCE_SECONDS
        store = await Store.open(self._settings.resolved_database_url)
        try:
            while True:
                cluster = await self._tenant.cluster(name)
                operation = await _last_operation(store, cluster.uuid)
                if operation:
                    remarks = await self._remarks(store, operation, cluster)
                    self._show(operation, remarks)
                if not str(cluster.status).endswith("_IN_PROGRESS"):
                    break
                if time.monotonic() > deadline:
                    raise QuickstartError(
                        f"{name} is still {cluster.status} after {PATIENCE_SECONDS / 60:.0f} min."
                    )
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            await store.close()
        complete = str(cluster.status).endswith("_COMPLETE")
        said = f"{name} is {cluster.status}"
        self._board.update(
            step,
            State.DONE if complete else State.FAILED,
            said if complete else f"{said}: {cluster.status_reason}",
        )
        return _outcome(cluster, operation, created=True)

    async def _outcome(self, cluster: Any, *, created: bool) -> Outcome:
        store = await Store.open(self._settings.resolved_database_url)
        try:
            return _outcome(cluster, await _last_operation(store, cluster.uuid), created=created)
        finally:
            await store.close()

    async def _remarks(self, store: Store, operation: Operation, cluster: Any) -> Mapping[str, str]:
        """Return for each step what there is to say about it."""
        notes = await store.operations.notes(operation.uuid)
        remarks = {note.step: note.message for note in notes}
        current = operation.current_step
        if current and cluster.stack_id:
            complete, known = await self._tenant.resources(cluster.stack_id)
            if known:
                remarks[current] = f"Heat: {complete} of {known} resources"
        return remarks

    def _show(self, operation: Operation, remarks: Mapping[str, str]) -> None:
        """Bring the operation's steps onto the list."""
        for record in operation.steps:
            line = self._lines.get(record.name)
            if line is None:
                line = self._lines[record.name] = self._board.add(record.name, level=1)
            if record.started_at:
                line.started = record.started_at.timestamp()
            remark = record.error or remarks.get(record.name)
            self._board.update(line, STATES[record.state], remark)
            if record.ended_at:
                line.ended = record.ended_at.timestamp()


async def _last_operation(store: Store, cluster_id: str) -> Operation | None:
    page = Page(limit=1, sort_dir="desc")
    found = await store.operations.list(Scope(None), page, cluster_id)
    return found[0] if found else None


def _outcome(cluster: Any, operation: Operation | None, *, created: bool) -> Outcome:
    run_id = operation.run_id if operation else None
    return Outcome(cluster, workflow_id(cluster.uuid), run_id, created)


def _is_ours(cluster: Any) -> bool:
    return re.fullmatch(rf"{CLUSTER_PREFIX}\d+", str(cluster.name)) is not None


def _number(cluster: Any) -> int:
    return int(str(cluster.name).removeprefix(CLUSTER_PREFIX))
