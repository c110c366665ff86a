"""The worker process: composition root of everything that runs operations."""

import asyncio
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import lru_cache, partial

import structlog
from temporalio.client import Client
from temporalio.worker import Worker

from jeroboam import health, metrics, own_worker, secret_access, temporal
from jeroboam.accounts import Accounts
from jeroboam.activities.accounts import AccountActivities
from jeroboam.activities.admission import Admission
from jeroboam.activities.coe import CoeActivities
from jeroboam.activities.dependencies import Dependencies
from jeroboam.activities.draining import DrainActivities
from jeroboam.activities.driver_files import FileCache
from jeroboam.activities.hooks import HookActivities
from jeroboam.activities.interceptor import ErrorTranslation
from jeroboam.activities.keys import KeyActivities
from jeroboam.activities.monitoring import MonitoringActivities
from jeroboam.activities.operation import OperationActivities
from jeroboam.activities.planning import Planner
from jeroboam.activities.poll_hub import PollHub
from jeroboam.activities.reconcile import ReconcileActivities
from jeroboam.activities.requests import RequestActivities
from jeroboam.activities.rotation import RotationActivities
from jeroboam.activities.schedule_upkeep import UpkeepActivities
from jeroboam.activities.scheduled import ScheduledActivities
from jeroboam.activities.signing import SigningActivities
from jeroboam.activities.waiting import WaitActivities
from jeroboam.cloud import Cloud
from jeroboam.drivers.registry import DriverRegistry
from jeroboam.drivers_elsewhere import DriversElsewhere
from jeroboam.errors import InvalidRequestError
from jeroboam.hooks.callbacks import PURPOSE as CALLBACKS
from jeroboam.hooks.kit import HookKit
from jeroboam.models import utc_now
from jeroboam.renewal import ensure_renewal
from jeroboam.sandbox import SandboxRunner
from jeroboam.settings import Settings
from jeroboam.store import Cipher, Store
from jeroboam.workflows.by_hand import Politeness
from jeroboam.workflows.call_coe import CallCoeWorkflow
from jeroboam.workflows.check_health import CheckHealthWorkflow
from jeroboam.workflows.client import OperationClient
from jeroboam.workflows.create_cluster import CreateClusterWorkflow
from jeroboam.workflows.create_node_group import CreateNodeGroupWorkflow
from jeroboam.workflows.delete_cluster import DeleteClusterWorkflow
from jeroboam.workflows.delete_node_group import DeleteNodeGroupWorkflow
from jeroboam.workflows.force_delete_cluster import ForceDeleteClusterWorkflow
from jeroboam.workflows.hard_reboot_cluster import HardRebootClusterWorkflow
from jeroboam.workflows.keep_keys import KeepKeysWorkflow
from jeroboam.workflows.monitor import MonitorWorkflow
from jeroboam.workflows.rebuild_cluster import RebuildClusterWorkflow
from jeroboam.workflows.reconcile import ReconcileWorkflow
from jeroboam.workflows.request_operation import RequestOperationWorkflow
from jeroboam.workflows.resize_cluster import ResizeClusterWorkflow
from jeroboam.workflows.rotate_ca import RotateCaWorkflow
from jeroboam.workflows.rotate_credential import RotateCredentialWorkflow
from jeroboam.workflows.schedule_client import ScheduleClient
from jeroboam.workflows.scheduled import ScheduledOperationWorkflow
from jeroboam.workflows.schedules import ensure_schedules
from jeroboam.workflows.sign_certificate import SignCertificateWorkflow
from jeroboam.workflows.soft_reboot_cluster import SoftRebootClusterWorkflow
from jeroboam.workflows.sync_schedules import SyncSchedulesWorkflow
from jeroboam.workflows.update_cluster import UpdateClusterWorkflow
from jeroboam.workflows.update_node_group import UpdateNodeGroupWorkflow
from jeroboam.workflows.upgrade_cluster import UpgradeClusterWorkflow

WORKFLOWS = (
    CreateClusterWorkflow,
    UpdateClusterWorkflow,
    DeleteClusterWorkflow,
    ForceDeleteClusterWorkflow,
    ResizeClusterWorkflow,
    UpgradeClusterWorkflow,
    RebuildClusterWorkflow,
    SoftRebootClusterWorkflow,
    HardRebootClusterWorkflow,
    CreateNodeGroupWorkflow,
    UpdateNodeGroupWorkflow,
    DeleteNodeGroupWorkflow,
    CheckHealthWorkflow,
    RotateCaWorkflow,
    RotateCredentialWorkflow,
    ReconcileWorkflow,
    ScheduledOperationWorkflow,
    RequestOperationWorkflow,
    SyncSchedulesWorkflow,
    SignCertificateWorkflow,
    CallCoeWorkflow,
    KeepKeysWorkflow,
    MonitorWorkflow,
)

SERVICE_BINARY = "magnum-conductor"
"""The name that Magnum's clients expect in the list of services."""

HEARTBEAT_SECONDS = 60.0

log = structlog.get_logger(__name__)


def build_workers(
    client: Client, store: Store, settings: Settings, dependencies: Dependencies
) -> tuple[Worker, Worker]:
    """Return the worker of the workflows and short steps, and that of the long waits."""
    operations = OperationClient(client, store, settings)
    admission = Admission(dependencies, operations)
    short = OperationActivities(dependencies, admission)
    rotation = RotationActivities(dependencies, admission)
    accounts = AccountActivities(dependencies, admission)
    hooks = HookActivities(dependencies, admission)
    reconcile = ReconcileActivities(store, operations)
    schedules = ScheduleClient(client, store, settings)
    planner = Planner(store, dependencies.drivers, dependencies.hooks)
    scheduled = ScheduledActivities(store, planner, schedules)
    requests = RequestActivities(store, planner, operations)
    upkeep = UpkeepActivities(store, schedules)
    coe = CoeActivities(dependencies)
    signing = SigningActivities(store, settings)
    drains = DrainActivities(store, admission, settings.drain_patience_seconds)
    interval = timedelta(seconds=settings.monitor_interval_seconds)
    monitoring = MonitoringActivities(dependencies, interval)
    waits = WaitActivities(dependencies, admission, PollHub(settings.poll_interval_seconds))
    grace = timedelta(seconds=settings.shutdown_grace_seconds)
    general = Worker(
        client,
        task_queue=settings.task_queue,
        workflows=WORKFLOWS,
        activities=[
            short.load_plan,
            short.record,
            short.issue_certificates,
            short.submit,
            short.collect_outputs,
            short.check_health,
            short.find_leftovers,
            rotation.try_credentials,
            rotation.revoke_credentials,
            rotation.turn_certificates,
            accounts.make_account,
            accounts.hand_account,
            accounts.restore_account,
            accounts.remove_accounts,
            drains.drain,
            drains.undrain,
            hooks.run_hook,
            reconcile.reconcile,
            scheduled.select_clusters,
            scheduled.accept_scheduled,
            scheduled.close_scheduled,
            requests.accept_request,
            upkeep.sync_schedules,
            coe.call_coe,
            KeyActivities(store).keep_keys,
            signing.sign_certificate,
            monitoring.due_clusters,
            monitoring.monitor_cluster,
            monitoring.note_silence,
        ],
        interceptors=[ErrorTranslation(store), Politeness()],
        workflow_runner=SandboxRunner(),
        # An input that is none ends its run; see ``models.base.RunInput``.
        workflow_failure_exception_types=[InvalidRequestError],
        max_cached_workflows=settings.max_waiting_operations,
        graceful_shutdown_timeout=grace,
    )
    waiting = Worker(
        client,
        task_queue=settings.poll_queue,
        activities=[waits.wait_for_backend],
        interceptors=[ErrorTranslation(store)],
        max_concurrent_activities=settings.max_waiting_operations,
        graceful_shutdown_timeout=grace,
    )
    return general, waiting


async def run(settings: Settings, driver: str | None = None) -> None:
    """Work until SIGTERM or SIGINT, then finish what is at hand and leave.

    Args:
        driver: The one driver that this process is for; without it, all but those that have
            workers of their own.
    """
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    loop.set_default_executor(ThreadPoolExecutor(settings.max_driver_threads, "driver"))
    async with AsyncExitStack() as stack:
        hooks_key = Cipher.for_hooks(settings)
        hooks = HookKit.load(settings, hooks_key.derive(CALLBACKS))
        cipher = Cipher.from_settings(settings)
        store = await Store.open(
            settings.resolved_database_url,
            cipher=cipher,
            secret_stores=secret_access.stores(settings, cipher),
            hooks_cipher=hooks_key,
            quotas=settings.quotas,
            migrate=True,
        )
        stack.push_async_callback(store.close)
        await store.secrets.publish_missing()
        cloud = lru_cache(partial(Cloud, timeout_seconds=settings.cloud_timeout_seconds))
        cloud(settings.cloud)  # A wrong entry ends the process here, not each operation later.
        dependencies = Dependencies(
            store=store,
            drivers=own_worker.only_driver(settings, driver)
            if driver
            else DriverRegistry.load(settings),
            hooks=hooks.registry,
            cloud=cloud,
            accounts=lambda name: Accounts(cloud(name), settings.trustee_domain),
            revoke_trust=lambda name, trust: cloud(name).delete_trust(trust),
            retire_trust=lambda name, trust: cloud(name).retire_trust(trust),
            outbound=hooks.outbound,
            callbacks=hooks.callbacks,
            files=FileCache(store, settings.state_directory / "driver-files"),
        )
        client = await temporal.connect_when_up(settings)
        await temporal.register_search_attributes(client)
        workers = (
            own_worker.build_driver_workers(client, dependencies, settings, hooks_key, driver)
            if driver
            else build_workers(client, store, settings, dependencies)
        )
        await stack.enter_async_context(
            health.listening(settings, workers, partial(_metrics, store))
        )
        for worker in workers:
            await stack.enter_async_context(worker)
        if driver:
            telling = own_worker.keep_announcing(store, dependencies.drivers)
        else:
            elsewhere = DriversElsewhere(client, store, settings, dependencies.drivers, hooks_key)
            telling = elsewhere.follow()
            await ensure_renewal(store, settings)
            await ensure_schedules(client, settings)
        for task in (asyncio.create_task(telling), asyncio.create_task(_heartbeat(store, driver))):
            stack.callback(task.cancel)
        log.info("worker_ready", task_queue=settings.task_queue, driver=driver)
        await stopping.wait()
        log.info("worker_stopping", grace_seconds=settings.shutdown_grace_seconds)


async def _metrics(store: Store) -> str:
    ends = await store.certificates.ends(utc_now(), metrics.EXPIRING_DAYS)
    return metrics.page(await store.monitoring.all(), ends)


async def _heartbeat(store: Store, driver: str | None) -> None:
    binary = f"{SERVICE_BINARY}-{driver}" if driver else SERVICE_BINARY
    while True:
        try:
            await store.services.heartbeat(socket.gethostname(), binary)
            await store.inbox.announce()
        except Exception:
            # The list of services shows it; the work itself reports a dead database by its steps.
            log.exception("heartbeat_failed")
        await asyncio.sleep(HEARTBEAT_SECONDS)
