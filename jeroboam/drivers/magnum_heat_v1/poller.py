"""Asks Heat about stacks that Jeroboam did not make, and which bear no tag before they change."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from jeroboam.drivers.base import CloudAccess, Phase, Progress, Watch
from jeroboam.drivers.heat.clients import tenant_client
from jeroboam.drivers.heat.phases import StackState
from jeroboam.drivers.heat.poller import HeatPoller
from jeroboam.drivers.heat.stacks import SERVICE
from jeroboam.drivers.heat.tags import group_tag
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import CredentialRejectedError
from jeroboam.models import Method

MOST_IDS = 50
"""Of one list call, so that its URL is accepted everywhere."""


class ImportedPoller(HeatPoller):
    """Lists stacks by their ids, in one call for each project."""

    def _list(
        self, cloud: CloudAccess, watches: Sequence[Watch]
    ) -> tuple[Mapping[str, Sequence[StackState]], Mapping[str, Progress]]:
        stacks: dict[str, list[StackState]] = {}
        rejected: dict[str, Progress] = {}
        for project in dict.fromkeys(watch.project_id for watch in watches):
            mine = [watch for watch in watches if watch.project_id == project]
            try:
                with translate_cloud_errors(SERVICE):
                    found = _by_id(tenant_client(cloud, mine[0].trust_id), mine)
            except CredentialRejectedError as error:
                rejected[project] = Progress(phase=Phase.FAILED, message=error.message)
                continue
            for watch in mine:
                if (state := found.get(watch.backend_id or "")) is not None:
                    stacks[watch.cluster_id] = [_marked(state, watch)]
        return stacks, rejected


def _by_id(heat: Any, watches: Sequence[Watch]) -> Mapping[str, StackState]:
    wanted = sorted({watch.backend_id for watch in watches if watch.backend_id})
    found: dict[str, StackState] = {}
    for start in range(0, len(wanted), MOST_IDS):
        parameters = [("id", ident) for ident in wanted[start : start + MOST_IDS]]
        answer = heat.http_client.get("/stacks", params=parameters)
        states = [StackState.of(record) for record in answer.json()["stacks"]]
        found |= {state.id: state for state in states}
    return found


def _marked(state: StackState, watch: Watch) -> StackState:
    """Return a node group's stack as if it said whose it is: it was asked for by its id."""
    if watch.method is not Method.DELETE_NODE_GROUP:
        return state
    return replace(state, tags=(*state.tags, group_tag(watch.node_group or "")))
