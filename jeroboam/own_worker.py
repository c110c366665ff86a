"""The workers of one driver, in a process and an environment of its own.

They take the steps that call the driver from a task queue that has its name, and the questions that
API and other workers have before a request is accepted. What the driver imports is imported here
alone.
"""

import asyncio
import socket
from datetime import timedelta

import structlog
from temporalio.client import Client
from temporalio.worker import Worker

from jeroboam.activities.admission import Admission
from jeroboam.activities.coe import CoeActivities
from jeroboam.activities.dependencies import Dependencies
from jeroboam.activities.draining import DrainActivities
from jeroboam.activities.driver_questions import PURPOSE, DriverQuestions
from jeroboam.activities.hooks import HookActivities
from jeroboam.activities.interceptor import ErrorTranslation
from jeroboam.activities.monitoring import MonitoringActivities
from jeroboam.activities.operation import OperationActivities
from jeroboam.activities.poll_hub import PollHub
from jeroboam.activities.waiting import WaitActivities
from jeroboam.drivers.registry import DriverRegistry
from jeroboam.drivers_elsewhere import announce
from jeroboam.errors import ConfigurationError, DriverContractError, InvalidRequestError
from jeroboam.models.driver_wire import driver_queue
from jeroboam.sandbox import SandboxRunner
from jeroboam.settings import Settings
from jeroboam.store import Cipher, Store
from jeroboam.workflows.ask_driver import AskDriverWorkflow
from jeroboam.workflows.by_hand import Politeness
from jeroboam.workflows.call_coe import CallCoeWorkflow
from jeroboam.workflows.client import OperationClient

ANNOUNCE_SECONDS = 60.0

log = structlog.get_logger(__name__)


def only_driver(settings: Settings, name: str) -> DriverRegistry:
    """Return a registry with one driver.

    Raises:
        ConfigurationError: The settings do not say that it has workers of its own, or it is not
            installed here.
        DriverContractError: It cannot be used; the message says why.
    """
    if name not in settings.own_worker_drivers:
        raise ConfigurationError(
            f"The driver '{name}' has no workers of its own: name it in "
            "JEROBOAM_OWN_WORKER_DRIVERS, for API and all workers."
        )
    registry = DriverRegistry.load(settings, only=name)
    for broken in registry.broken():
        raise DriverContractError(
            f"The driver '{name}' ({broken.source}) cannot be used: {broken.reason}"
        )
    if not registry.entries():
        raise ConfigurationError(f"The driver '{name}' is not installed in this environment.")
    return registry


def build_driver_workers(
    client: Client, dependencies: Dependencies, settings: Settings, shared: Cipher, driver: str
) -> tuple[Worker, Worker]:
    """Return the worker of a driver's short steps and questions, and that of its long waits.

    Args:
        shared: The key that API and workers share.
    """
    store = dependencies.store
    admission = Admission(dependencies, OperationClient(client, store, settings))
    short = OperationActivities(dependencies, admission)
    hooks = HookActivities(dependencies, admission)
    coe = CoeActivities(dependencies)
    questions = DriverQuestions(dependencies, Cipher(shared.derive(PURPOSE)))
    drains = DrainActivities(store, admission, settings.drain_patience_seconds)
    interval = timedelta(seconds=settings.monitor_interval_seconds)
    monitoring = MonitoringActivities(dependencies, interval)
    waits = WaitActivities(dependencies, admission, PollHub(settings.poll_interval_seconds))
    queue = driver_queue(settings.task_queue, driver)
    grace = timedelta(seconds=settings.shutdown_grace_seconds)
    general = Worker(
        client,
        task_queue=queue,
        workflows=[AskDriverWorkflow, CallCoeWorkflow],
        activities=[
            short.submit,
            short.collect_outputs,
            short.check_health,
            short.find_leftovers,
            drains.drain,
            drains.undrain,
            monitoring.monitor_cluster,
            hooks.run_hook,
            questions.ask_driver,
            coe.call_coe,
        ],
        interceptors=[ErrorTranslation(store), Politeness()],
        workflow_runner=SandboxRunner(),
        workflow_failure_exception_types=[InvalidRequestError],
        graceful_shutdown_timeout=grace,
    )
    waiting = Worker(
        client,
        task_queue=f"{queue}-poll",
        activities=[waits.wait_for_backend],
        interceptors=[ErrorTranslation(store)],
        max_concurrent_activities=settings.max_waiting_operations,
        graceful_shutdown_timeout=grace,
    )
    return general, waiting


async def keep_announcing(store: Store, registry: DriverRegistry) -> None:
    """Tell the other processes of the driver until the task is cancelled."""
    while True:
        try:
            for entry in registry.entries():
                await announce(store, entry, socket.gethostname())
        except Exception:
            # The others go on with what was told before.
            log.exception("driver_not_announced")
        await asyncio.sleep(ANNOUNCE_SECONDS)
