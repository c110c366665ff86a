"""Magnum's rules about node groups, whose breach is a conflict and not a bad request. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jeroboam.errors import ConflictError
from jeroboam.models import NodeGroup
from jeroboam.models.cluster import MASTER

TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
TAINT_FIELDS = ("key", "value", "effect")

# What a kubelet may set on its own node; with any other label of these domains it does not start.
_OWN_DOMAINS = ("kubernetes.io", "k8s.io")
_ALLOWED_DOMAINS = ("kubelet.kubernetes.io", "node.kubernetes.io")
_ALLOWED_LABELS = (
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
)

_WORD = r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
_DOMAIN = r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?"
_KEY = re.compile(rf"({_DOMAIN}/)?{_WORD}")
_VALUE = re.compile(rf"({_WORD})?")


def check(group: NodeGroup) -> None:
    """Refuse a group that cannot be.

    Raises:
        ConflictError: With the attribute and what is wrong with it.
    """
    for attribute, reason in _complaints(group):
        raise ConflictError(f"{attribute} for {group.name} is invalid ({reason}).")


def taints(name: str, given: Sequence[Any]) -> tuple[Mapping[str, str], ...]:
    """Return the taints that a request gives, as they are stored.

    Args:
        name: The group's.

    Raises:
        ConflictError: One is no taint.
    """
    for number, taint in enumerate(given):
        reason = _complaint_of_taint(taint)
        if reason:
            raise ConflictError(
                f"node_taints for {name} is invalid (node_taints[{number}]{reason})."
            )
    return tuple(
        {field: taint[field] for field in TAINT_FIELDS if taint.get(field)} for taint in given
    )


def _complaints(group: NodeGroup) -> Iterator[tuple[str, str]]:
    lowest, count, highest = group.min_node_count, group.node_count, group.max_node_count
    # As in Magnum, a maximum of zero is none.
    if highest and highest < lowest:
        reason = f"min_node_count ({lowest}) should be less or equal to max_node_count ({highest})"
        yield "max_node_count", reason
    if highest and count > highest:
        reason = f"node_count ({count}) should be less or equal to max_node_count ({highest})"
        yield "max_node_count", reason
    if lowest > count:
        reason = f"min_node_count ({lowest}) should be less or equal to node_count ({count})"
        yield "min_node_count", reason
    if group.role == MASTER:
        for attribute in ("node_labels", "node_taints"):
            if getattr(group, attribute):
                yield attribute, f"{attribute} may not be set on master nodegroups"
    for key, value in group.node_labels.items():
        complaint = _complaint_of_label(key, value)
        if complaint:
            yield "node_labels", complaint


def _complaint_of_label(key: str, value: str) -> str | None:
    if not _KEY.fullmatch(key):
        return f"'{key}' is no label key of Kubernetes"
    if not _VALUE.fullmatch(value):
        return f"'{value}' is no label value of Kubernetes"
    domain, slash, _ = key.rpartition("/")
    own = domain in _OWN_DOMAINS or domain.endswith(tuple(f".{one}" for one in _OWN_DOMAINS))
    if not slash or not own or domain in _ALLOWED_DOMAINS or key in _ALLOWED_LABELS:
        return None
    return (
        f"node label '{key}' is in a restricted Kubernetes namespace; the kubelet will refuse to "
        f"start. Labels in the kubernetes.io/ and k8s.io/ namespaces must use one of the prefixes "
        f"{', '.join(_ALLOWED_DOMAINS)} or be one of {', '.join(_ALLOWED_LABELS)}"
    )


def _complaint_of_taint(taint: object) -> str | None:
    if not isinstance(taint, Mapping):
        return " must be an object with key, effect and optional value"
    unknown = sorted(str(field) for field in taint if field not in TAINT_FIELDS)
    if unknown:
        fields = ", ".join(TAINT_FIELDS)
        return f" contains unrecognised field(s) {', '.join(unknown)}; allowed fields are {fields}"
    if taint.get("effect") not in TAINT_EFFECTS:
        return f".effect must be one of {', '.join(TAINT_EFFECTS)}"
    return _complaint_of_words(taint.get("key"), taint.get("value") or "")


def _complaint_of_words(key: object, value: object) -> str | None:
    if not key:
        return ".key is required"
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        return f".key '{key}' is no taint key of Kubernetes"
    if not isinstance(value, str) or not _VALUE.fullmatch(value):
        return f".value '{value}' is no taint value of Kubernetes"
    return None
