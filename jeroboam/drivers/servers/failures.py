"""Why servers are not as they were ordered: Nova's words, or those of the nodes themselves."""

import json
from collections.abc import Mapping
from typing import Any

from openstack.connection import Connection

from jeroboam.drivers.base import Progress
from jeroboam.drivers.heat.servers import Servers, fault_of
from jeroboam.drivers.openstack import redact, translate_cloud_errors
from jeroboam.drivers.servers.orders import REPORT
from jeroboam.errors import JeroboamError

LINES = 400
"""How much of a console is read."""

_FAILURE = "FAILURE"
_LONGEST = 500


def explain(connection: Connection, mark: str, progress: Progress) -> Progress:
    """Return progress with a reason for each server that failed, if any did.

    Args:
        mark: The part that the names of all servers of the cluster have in common.
    """
    faults: dict[str, str] = {}
    for server in Servers(connection).listed(mark).values():
        if server.status == "ERROR":
            faults[server.name] = redact(fault_of(server))
        elif reason := _reported(connection, server):
            faults[server.name] = reason
    if not faults:
        return progress
    words = "; ".join(f"{name}: {reason}" for name, reason in faults.items())
    return progress.model_copy(update={"message": words[:_LONGEST], "faults": faults})


def report_of(console: str) -> Mapping[str, Any]:
    """Return the last report on a console, nothing if there is none."""
    lines = [line for line in console.splitlines() if line.startswith(f"{REPORT} ")]
    try:
        found = json.loads(lines[-1].removeprefix(REPORT)) if lines else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _reported(connection: Connection, server: Any) -> str:
    """Return why a node could not be set up, if it says so."""
    compute: Any = connection.compute
    try:
        with translate_cloud_errors("Nova"):
            console = compute.get_server_console_output(server.id, length=LINES)
    except JeroboamError:
        return ""
    found = report_of(str(console.get("output") or ""))
    if found.get("status") != _FAILURE:
        return ""
    return f"A node reported that it could not be set up: {found.get('reason')}"[:_LONGEST]
