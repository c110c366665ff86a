"""From Heat's tree of failed resources to the causes, in few words and without secrets. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from jeroboam.drivers.openstack import redact

NESTED_DEPTH = 6
MAX_FAULTS = 10
MAX_REASON = 300
MAX_TOTAL = 3600

Faults = Mapping[str, str]

# Resources that Heat stopped because another one had failed: effects, not causes. Nova uses the
# same words of a cause: "Build of instance ... aborted: ...".
_EFFECT = re.compile(
    r"\b[A-Z]{4,} (?:aborted|cancell?ed)|(?i:operation cancell?ed|stack .* (?:cancel|timed out))"
)
_WRAPPER = re.compile(r"^(?:resources?\.[\w.\[\]-]+: )+")
_CLASS = re.compile(r"^(?:Resource \w+ failed: )?(?P<kind>[A-Za-z]+): (?P<rest>.*)$", re.DOTALL)
_PATH = re.compile(r"resources(?:\.[\w-]+|\[[^\]]+\])(?:\.resources(?:\.[\w-]+|\[[^\]]+\]))*: ?")
_NOVA = re.compile(
    r"Went to status ERROR due to \"(?:Message: )?(?P<text>.*?)(?:, Code: (?P<code>\w+))?\"",
    re.DOTALL,
)
_CONDITION = "OS::Heat::WaitCondition"
_TIME_IS_UP = "Timed out)"
_HINTS = {
    "WaitConditionTimeout": "The nodes did not report in time ({text}). Look at the console log "
    "of the servers; often they reach neither the image registry nor Heat's API",
    "WaitConditionFailure": "A node reported that it could not be set up: {text}",
}


def root_causes(stack_id: str, records: Sequence[Mapping[str, Any]]) -> Faults:
    """Return the reasons of the innermost failed resources by their path in the stack.

    Args:
        stack_id: The outermost stack.
        records: Failed resources of the stack and of the stacks nested in it, as Heat lists them.
    """
    leaves = _leaves(stack_id, records)
    causes = {
        path: reason
        for path, record in leaves.items()
        if not _EFFECT.search(reason := _raw_reason(record))
    }
    chosen = causes or {path: _raw_reason(record) for path, record in leaves.items()}
    return bounded({path: explain(reason) for path, reason in chosen.items()})


def unfinished(stack_id: str, records: Sequence[Mapping[str, Any]]) -> Faults:
    """Return the innermost resources that Heat still worked at."""
    return bounded(
        {
            path: f"not ready when the time was up ({record.get('resource_type', 'resource')})"
            for path, record in _leaves(stack_id, records).items()
        }
    )


def only_effects(faults: Faults) -> bool:
    """Whether all that failed was stopped because of something else, as when the time is up."""
    return all(_EFFECT.search(reason) for reason in faults.values())


def explain(reason: str) -> str:
    """Return the words of the service that failed, without Heat's wrapping."""
    text = " ".join(redact(reason).split())
    kind = ""
    while match := _CLASS.match(text):
        kind, text = match["kind"], _PATH.sub("", match["rest"], count=1)
        if kind in _HINTS:
            break
    text = _WRAPPER.sub("", text)
    if nova := _NOVA.search(text):
        text = nova["text"]
    hint = _HINTS.get(kind)
    return (hint.format(text=text) if hint else text)[:MAX_REASON]


def bounded(faults: Faults) -> Faults:
    """Return as many faults as fit into a row and a history event."""
    kept: dict[str, str] = {}
    size = 0
    for path, reason in sorted(faults.items()):
        size += len(path.encode()) + len(reason.encode())
        if len(kept) == MAX_FAULTS or size > MAX_TOTAL:
            break
        kept[path] = reason
    return kept


def summary(faults: Faults) -> str:
    """Return one line that names the cause and where it struck."""
    reasons: dict[str, list[str]] = {}
    for path, reason in faults.items():
        reasons.setdefault(reason, []).append(path)
    reason, paths = next(iter(reasons.items()))
    others = f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
    different = f"; {len(reasons) - 1} other causes, see faults" if len(reasons) > 1 else ""
    return f"{paths[0]}{others}: {reason}{different}"


def _leaves(stack_id: str, records: Sequence[Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
    """Return the records that are no nested stack around another record, by their paths."""
    owners = {str(record.get("physical_resource_id")): record for record in records}
    inner = {nested for record in records if (nested := stack_of(record)) in owners}
    return {
        _path(stack_id, record, owners): record
        for record in records
        if str(record.get("physical_resource_id")) not in inner
    }


def _raw_reason(record: Mapping[str, Any]) -> str:
    """Return Heat's words; a condition that waited until the stack's time was up is a cause."""
    reason = str(record.get("resource_status_reason") or "no reason given")
    if record.get("resource_type") == _CONDITION and reason.endswith(_TIME_IS_UP):
        return "WaitConditionTimeout: the time of the whole operation was up"
    return reason


def stack_of(record: Mapping[str, Any]) -> str:
    """Return the id of the stack that holds the resource."""
    links = record.get("links") or ()
    href = next((link["href"] for link in links if link.get("rel") == "stack"), "")
    return str(href).rstrip("/").rsplit("/", 1)[-1]


def _path(stack_id: str, record: Mapping[str, Any], owners: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the names from the outermost stack down to the resource."""
    names = [str(record.get("resource_name", "?"))]
    holder = stack_of(record)
    while holder != stack_id and holder in owners and len(names) <= NESTED_DEPTH:
        record = owners[holder]
        names.append(str(record.get("resource_name", "?")))
        holder = stack_of(record)
    return ".".join(reversed(names))
