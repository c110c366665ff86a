"""One list call of Heat answers for all clusters of a cloud."""

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from threading import Lock
from typing import Any

import structlog

from jeroboam.drivers.base import CloudAccess, Phase, Poller, Progress, Watch
from jeroboam.drivers.heat import engines, node_progress
from jeroboam.drivers.heat.clients import service_client, tenant_client
from jeroboam.drivers.heat.phases import StackState, progress
from jeroboam.drivers.heat.stacks import SERVICE
from jeroboam.drivers.heat.tags import TAG
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import CloudUnavailableError, CredentialRejectedError, NotAuthorizedError
from jeroboam.models import Method

PAGE = 1000

ENGINES_SECONDS = 30.0
"""Pause between two questions for Heat's engines while Heat answers all along."""

# The stacks by tag, and the verdict on projects whose credentials were rejected.
_Listing = tuple[Mapping[str, Sequence[StackState]], Mapping[str, Progress]]

_OF_NODES = frozenset({Method.REBOOT_NODES, Method.REBUILD_NODES})

log = structlog.get_logger(__name__)


class HeatPoller(Poller):
    """Lists the stacks that carry Jeroboam's tag.

    Heat lets nobody list the stacks of all projects unless its policy
    ``stacks:global_index`` is opened for Jeroboam's service user. Where it is not, there is one
    list call for each project that somebody waits for.
    """

    def __init__(self) -> None:
        self._refused: set[str] = set()
        self._lock = Lock()
        self._engines_changed: datetime | None = None
        self._ask_engines_at = 0.0

    def poll(self, cloud: CloudAccess, watches: Sequence[Watch]) -> Mapping[str, Progress]:
        """Return the progress of each watch by ``cluster_id``.

        Work on single nodes is Nova's and is asked of Nova.
        """
        of_nodes = [watch for watch in watches if watch.method in _OF_NODES]
        of_stacks = [watch for watch in watches if watch.method not in _OF_NODES]
        return {**node_progress.poll(cloud, of_nodes), **self._poll_stacks(cloud, of_stacks)}

    def _poll_stacks(self, cloud: CloudAccess, watches: Sequence[Watch]) -> Mapping[str, Progress]:
        if not watches:
            return {}
        try:
            stacks, rejected = self._list(cloud, watches)
        except CloudUnavailableError:
            self._ask_engines_at = 0.0
            raise
        found = {watch.cluster_id: stacks.get(watch.cluster_id, ()) for watch in watches}
        running = any(stack.running for owned in found.values() for stack in owned)
        changed = self._changed_at(cloud) if running else None
        return {
            watch.cluster_id: rejected.get(watch.project_id)
            or progress(found[watch.cluster_id], watch, changed)
            for watch in watches
        }

    def _changed_at(self, cloud: CloudAccess) -> datetime | None:
        """Ask for Heat's engines after every silence of Heat, and now and then."""
        if time.monotonic() >= self._ask_engines_at:
            self._engines_changed = engines.changed_at(cloud)
            self._ask_engines_at = time.monotonic() + ENGINES_SECONDS
        return self._engines_changed

    def _list(self, cloud: CloudAccess, watches: Sequence[Watch]) -> _Listing:
        if cloud.name not in self._refused:
            try:
                with translate_cloud_errors(SERVICE):
                    return _by_tag(_tagged(service_client(cloud), global_tenant=True)), {}
            except NotAuthorizedError:
                self._remember_refusal(cloud.name)
        return _by_project(cloud, watches)

    def _remember_refusal(self, cloud: str) -> None:
        with self._lock:
            known = cloud in self._refused
            self._refused.add(cloud)
        if not known:
            log.warning(
                "heat_global_list_refused",
                cloud=cloud,
                remedy="allow stacks:global_index for the service user in Heat's policy",
            )


def _by_project(cloud: CloudAccess, watches: Sequence[Watch]) -> _Listing:
    """Ask once for each project; whoever's trust is gone must blind nobody else."""
    stacks: list[StackState] = []
    rejected: dict[str, Progress] = {}
    for project in dict.fromkeys(watch.project_id for watch in watches):
        trusts = dict.fromkeys(one.trust_id for one in watches if one.project_id == project)
        found = _listed(cloud, trusts)
        if isinstance(found, Progress):
            rejected[project] = found
        else:
            stacks += found
    return _by_tag(stacks), rejected


def _listed(cloud: CloudAccess, trusts: Iterable[str | None]) -> list[StackState] | Progress:
    """Return the stacks of a project by the first trust that is of use, or that there is none."""
    reason = ""
    for trust in trusts:
        try:
            with translate_cloud_errors(SERVICE):
                return _tagged(tenant_client(cloud, trust))
        except CredentialRejectedError as error:
            reason = error.message
    return Progress(phase=Phase.FAILED, message=reason)


def _tagged(heat: Any, **scope: bool) -> list[StackState]:
    """Return all stacks with Jeroboam's tag, page by page.

    The client's own paging always asks for one page more, so the request is made below it.
    """
    found: list[StackState] = []
    while True:
        parameters = {"tags": TAG, "limit": PAGE, **scope}
        if found:
            parameters["marker"] = found[-1].id
        answer = heat.http_client.get("/stacks", params=parameters)
        page = [StackState.of(record) for record in answer.json()["stacks"]]
        found += page
        if len(page) < PAGE:
            return found


def _by_tag(stacks: Iterable[StackState]) -> Mapping[str, Sequence[StackState]]:
    """Index the stacks by each of their tags; a cluster's uuid is one of them."""
    index: dict[str, list[StackState]] = {}
    for stack in stacks:
        for tag in stack.tags:
            index.setdefault(tag, []).append(stack)
    return index
