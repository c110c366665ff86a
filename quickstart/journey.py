"""The way from nothing to a first cluster."""

from functools import partial

from quickstart import programs
from quickstart.board import Board, State, Step
from quickstart.cloud import SERVICES, QuickstartCloud
from quickstart.concurrency import together
from quickstart.demo import Demo, Outcome
from quickstart.options import Options
from quickstart.supervisor import Program, Supervisor


class Journey:
    """All steps of the quickstart, in their order; what can go at once does.

    Args:
        options: What is wanted.
        board: Where the progress goes.
        supervisor: Runs the product's processes.
        cloud: Runs OpenStack.
    """

    def __init__(
        self, options: Options, board: Board, supervisor: Supervisor, cloud: QuickstartCloud
    ) -> None:
        self._options = options
        self._layout = options.layout
        self._board = board
        self._supervisor = supervisor
        self._cloud = cloud

    async def travel(self) -> Outcome:
        """Go all the way.

        Raises:
            QuickstartError: Something is in the way.
        """
        titles = ("OpenStack", "Temporal", "Jeroboam's API", "Jeroboam's worker")
        openstack, temporal, api, worker = map(self._board.add, titles)
        template = self._board.add("Cluster template")
        cluster = self._board.add("Cluster")
        await together(self._start_cloud(openstack), self._start_product(temporal, api, worker))
        demo = Demo(self._layout, self._board)
        with self._board.working(template):
            await demo.ensure_template(template)
        with self._board.working(cluster):
            return await demo.ensure_cluster(cluster, new=self._options.new)

    async def _start_cloud(self, step: Step) -> None:
        with self._board.working(step):
            await self._cloud.start(partial(self._board.update, step, None))
            names = ", ".join(name.capitalize() for name in SERVICES)
            self._board.update(step, State.DONE, names)

    async def _start_product(self, temporal: Step, api: Step, worker: Step) -> None:
        layout = self._layout
        await self._start(temporal, programs.temporal_server(layout), layout.temporal_ui_url)
        await self._cloud.configured()
        await together(
            self._start(api, programs.api(layout), layout.api_url),
            self._start(worker, programs.worker(layout), ""),
        )

    async def _start(self, step: Step, program: Program, detail: str) -> None:
        with self._board.working(step):
            await self._supervisor.start(program)
            self._board.update(step, State.DONE, detail)
