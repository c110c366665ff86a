"""Ports are looked at before anything starts."""

import errno
import socket
from collections.abc import Iterable

from quickstart.cloud import QuickstartCloud
from quickstart.errors import QuickstartError
from quickstart.layout import Layout


def require_ports(layout: Layout, cloud: QuickstartCloud) -> None:
    """Look at all ports of a quickstart.

    Raises:
        QuickstartError: Somebody else listens on one of them.
    """
    ours = [
        (layout.temporal_port, "the Temporal server"),
        (layout.temporal_ui_port, "the Temporal UI"),
        (layout.api_port, "Jeroboam's API"),
        (layout.worker_health_port, "Jeroboam's worker"),
    ]
    require_free([*ours, *cloud.ports_to_take()])


def require_free(ports: Iterable[tuple[int, str]]) -> None:
    """Refuse to start when somebody else listens on one of the ports.

    Args:
        ports: Each with the name of what needs it.

    Raises:
        QuickstartError: It names the port, and how to choose others.
    """
    for port, title in ports:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError as error:
                if error.errno not in {errno.EADDRINUSE, errno.EACCES}:
                    raise
                raise QuickstartError(
                    f"Port {port}, which {title} needs, is taken by another program.",
                    'Stop that program, or choose other ports: make quickstart ARGS="--port-base '
                    '16000".',
                ) from None
