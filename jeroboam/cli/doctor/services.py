"""Looks at what the service talks to: its database, Temporal, and the cloud."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from keystoneauth1 import plugin
from sqlalchemy.engine import make_url
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from jeroboam import temporal
from jeroboam.cli.doctor.findings import Finding, fail, ok, warn
from jeroboam.cloud import Cloud
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import JeroboamError
from jeroboam.models.driver_wire import driver_queue
from jeroboam.settings import Settings
from jeroboam.store import migrate

RPC_TIMEOUT = timedelta(seconds=5)
CLOUD_TIMEOUT_SECONDS = 10.0
VALIDATORS = frozenset({"admin", "service"})
"""Roles with which Keystone lets a service validate the tokens of others."""

USER_MANAGERS = frozenset({"admin", "manager"})
"""Roles with which Keystone lets a user make others in a domain; old ones know the first alone."""

IDENTITY_API = {"interface": plugin.AUTH_INTERFACE, "version": "3"}

CATALOGUE = {
    "orchestration": "Heat's drivers cannot build clusters.",
    "image": "Images of templates cannot be looked up.",
    "compute": "Flavors and key pairs of templates cannot be looked up.",
    "network": "Networks of templates cannot be looked up.",
    "container-infra": "Clients do not find this service.",
}


def database(settings: Settings) -> Iterator[Finding]:
    """Ask the database for its schema."""
    check, url = "database", make_url(settings.resolved_database_url)
    shown = url.render_as_string(hide_password=True)
    if url.drivername.startswith("sqlite") and not migrate.exists(url):
        detail = f"{shown} is not there yet; the first start makes it."
        yield warn(check, detail, "jeroboam db upgrade")
        return
    standing = asyncio.run(migrate.standing(settings.resolved_database_url))
    if standing.current == standing.wanted:
        yield ok(check, f"{shown} answers, and its schema is {standing.current}.")
    elif standing.current is None or standing.older:
        found = standing.current or "empty"
        detail = f"The schema of {shown} is {found}; this version needs {standing.wanted}."
        yield fail(check, detail, "jeroboam db upgrade")
    else:
        detail = f"The schema of {shown} is {standing.current}, of a newer version of Jeroboam."
        yield fail(check, detail, "Install that version here.")


def workflow_engine(settings: Settings) -> Iterator[Finding]:
    """Ask Temporal for its namespace, and who polls for work."""
    yield from asyncio.run(_ask_temporal(settings))


def cloud(settings: Settings) -> Iterator[Finding]:
    """Log in as the service user, in its project and its domain, and read the catalogue."""
    access = Cloud(
        settings.cloud, timeout_seconds=min(CLOUD_TIMEOUT_SECONDS, settings.cloud_timeout_seconds)
    )
    session: Any = access.service_session()
    found = session.auth.get_access(session)
    who = f"{found.username} in project {found.project_name}"
    yield ok("cloud", f"{access.auth_url} lets '{settings.cloud}' in: {who}.")
    yield _roles(settings, set(found.role_names))
    yield _trustee_domain(settings, access, found)
    for kind, consequence in CATALOGUE.items():
        yield _endpoint(access, found.service_catalog, kind, consequence)


async def _ask_temporal(settings: Settings) -> list[Finding]:
    check, address = "temporal", settings.temporal_address
    try:
        client = await temporal.connect(settings)
    except RuntimeError as error:
        text = " ".join(str(error).split())
        mend = "Start Temporal, or correct JEROBOAM_TEMPORAL_ADDRESS and JEROBOAM_TEMPORAL_TLS."
        return [fail(check, f"{address} does not answer: {text}", mend)]
    namespace = settings.temporal_namespace
    try:
        await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=namespace), timeout=RPC_TIMEOUT
        )
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        mend = f"temporal operator namespace create {namespace}, or correct "
        detail = f"{address} has no namespace '{namespace}'."
        return [fail(check, detail, f"{mend}JEROBOAM_TEMPORAL_NAMESPACE.")]
    return [
        ok(check, f"{address} answers, with the namespace '{namespace}'."),
        await _search_attributes(client),
        *[await _pollers(client, queue) for queue in _queues(settings)],
    ]


async def _search_attributes(client: Client) -> Finding:
    answer = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace), timeout=RPC_TIMEOUT
    )
    missing = [
        key.name for key in temporal.SEARCH_ATTRIBUTES if key.name not in answer.custom_attributes
    ]
    if missing:
        detail = f"Not registered: {', '.join(missing)}."
        return warn("search attributes", detail, "Start a worker, which registers them.")
    return ok("search attributes", "All are registered.")


async def _pollers(client: Client, queue: str) -> Finding:
    check = f"queue {queue}"
    pollers: set[str] = set()
    for kind in (TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW, TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY):
        request = DescribeTaskQueueRequest(
            namespace=client.namespace, task_queue=TaskQueue(name=queue), task_queue_type=kind
        )
        answer = await client.workflow_service.describe_task_queue(request, timeout=RPC_TIMEOUT)
        pollers |= {poller.identity for poller in answer.pollers}
    if pollers:
        return ok(check, f"{len(pollers)} workers poll it: {', '.join(sorted(pollers))}.")
    return fail(check, "No worker polls it, so that operations wait.", "Start `jeroboam worker`.")


def _queues(settings: Settings) -> tuple[str, ...]:
    own = (driver_queue(settings.task_queue, name) for name in settings.own_worker_drivers)
    return settings.task_queue, settings.poll_queue, *own


def _roles(settings: Settings, roles: set[str]) -> Finding:
    check, listed = "service user", ", ".join(sorted(roles)) or "none"
    if roles & VALIDATORS:
        return ok(check, f"It has the roles {listed}.")
    mend = "openstack role add --user USER --project service service"
    detail = f"It has the roles {listed}; Keystone will not let it validate the tokens of others."
    return fail(check, f"{detail} Its cloud is '{settings.cloud}'.", mend)


def _trustee_domain(settings: Settings, access: Cloud, user: Any) -> Finding:
    check, domain = "trustee domain", settings.trustee_domain
    if not domain:
        return ok(check, "None is set; clusters whose programs call the cloud are refused.")
    mend = (
        f"openstack domain create --or-show {domain}; openstack role add --user {user.username} "
        f"--user-domain {user.user_domain_name} --domain {domain} admin"
    )
    try:
        session: Any = access.domain_session(domain)
        found = session.auth.get_access(session)
        count = _count_users(session, found.domain_id)
    except JeroboamError as error:
        return fail(check, error.message, mend)
    detail = f"{user.username} has the roles {', '.join(sorted(found.role_names))} on '{domain}'"
    if USER_MANAGERS.isdisjoint(found.role_names):
        return fail(check, f"{detail}, with which Keystone will not let it make users.", mend)
    return ok(check, f"{detail}, where {count} users are.")


def _count_users(session: Any, domain_id: str) -> int:
    with translate_cloud_errors("Keystone"):
        answer = session.get(
            "/users", params={"domain_id": domain_id}, endpoint_filter=IDENTITY_API
        )
    return len(answer.json()["users"])


def _endpoint(access: Cloud, catalogue: Any, kind: str, consequence: str) -> Finding:
    url = catalogue.url_for(
        service_type=kind, interface=access.interface, region_name=access.region
    )
    if url:
        return ok(f"catalogue {kind}", str(url))
    mend = f"openstack endpoint create --region REGION {kind} {access.interface} URL"
    return warn(f"catalogue {kind}", f"There is no such service. {consequence}", mend)
