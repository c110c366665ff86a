"""What may be asked of a small cluster of the Fedora CoreOS driver. Pure."""

import random
from collections.abc import Sequence

from jeroboam.models import ClusterSpec, OperationKind, Parameters
from jeroboam.models.cluster import MASTER
from tests.chaos import wishes

MOST_WORKERS = 2
MOST_GROUPS = 3
"""Masters, default workers and one group more."""


def wish(
    chance: random.Random, spec: ClusterSpec, templates: Sequence[str]
) -> tuple[OperationKind, Parameters]:
    """Return an operation that the cluster, and the machine under it, can take."""
    while True:
        kind, parameters = wishes.wish(chance, spec, templates)
        if fits(spec, kind, parameters):
            return kind, parameters


def fits(spec: ClusterSpec, kind: OperationKind, parameters: Parameters) -> bool:
    """Return whether it stays small, and leaves the size of the control plane alone."""
    if kind is OperationKind.CREATE_NODE_GROUP and parameters.group:
        small = parameters.group.node_count < MOST_WORKERS
        return small and len(spec.node_groups) < MOST_GROUPS
    if kind in {OperationKind.RESIZE, OperationKind.UPDATE}:
        group = spec.group(parameters.node_group or spec.workers[0].uuid)
        return group.role != MASTER and (parameters.node_count or 0) <= MOST_WORKERS
    return True
