"""The first cluster: its template, its creation, and looking on until it is complete."""

import asyncio
import re
import time
from dataclasses import dataclass
from typing import Any

from quickstart.board import Board, State, Step
from quickstart.errors import QuickstartError
from quickstart.layout import Layout
from quickstart.progress import OperationProgress
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


@dataclass(frozen=True)
class Outcome:
    """The cluster that is there in the end.

    Attributes:
        cluster: As the API shows it.
        run_link: Where the Temporal UI shows how it was made, if that is known.
    """

    cluster: Any
    run_link: str | None

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
        self._looked_on = False

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
        newest = await self._newest()
        if newest is None or new or not _is_usable(newest):
            name = await self._create(step, newest, new=new)
        else:
            name = newest.name
        cluster = await self._look_on(name, OperationProgress(self._board, self._tenant))
        operation = await self._tenant.latest_operation(cluster.id)
        link = await self._tenant.run_link(operation["uuid"]) if operation else None
        there = " already" if newest and newest.name == name else ""
        state = State.DONE if _is_usable(cluster) else State.FAILED
        self._board.update(step, state, f"{name} is {cluster.status}{there}")
        return Outcome(cluster, link)

    async def _newest(self) -> Any:
        """Return the cluster that the last quickstart created, or None."""
        ours = filter(_is_ours, await self._tenant.clusters())
        return max(ours, key=_number, default=None)

    async def _create(self, step: Step, before: Any, *, new: bool) -> str:
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
        return name

    async def _look_on(self, name: str, progress: OperationProgress) -> Any:
        """Return the cluster when nothing is in progress on it any more."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            cluster = await self._tenant.cluster(name)
            in_progress = str(cluster.status).endswith("_IN_PROGRESS")
            if in_progress or self._looked_on:
                self._looked_on = True
                await progress.show(cluster)
            if not in_progress:
                return cluster
            if time.monotonic() > deadline:
                raise QuickstartError(
                    f"{name} is still {cluster.status} after {PATIENCE_SECONDS / 60:.0f} min."
                )
            await asyncio.sleep(LOOK_SECONDS)


def _is_ours(cluster: Any) -> bool:
    return re.fullmatch(rf"{CLUSTER_PREFIX}\d+", str(cluster.name)) is not None


def _number(cluster: Any) -> int:
    return int(str(cluster.name).removeprefix(CLUSTER_PREFIX))


def _is_usable(cluster: Any) -> bool:
    """Tell whether a cluster is complete or will be."""
    status = str(cluster.status)
    return not status.startswith("DELETE") and not status.endswith("_FAILED")
