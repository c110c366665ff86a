"""Runs one service whole, API and back end, in this process.

Usage: ``python -m devcloud.inside.serve SERVICE HOME``
"""

import contextlib
import importlib
import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from typing import Any, NoReturn

from devcloud.faults import FaultFile
from devcloud.layout import Layout

THREADS = 16


def main() -> NoReturn:
    """Serve until SIGTERM."""
    service, home = sys.argv[1:3]
    signal.signal(signal.SIGTERM, lambda *_: _leave(0))
    try:
        layout = Layout.load(Path(home))
        if layout is None:
            raise RuntimeError(f"{home} holds no devcloud")
        _select_threads(service)
        # The patches import oslo libraries, so they come after the choice of threads.
        from devcloud.inside import sqlite, transport

        sqlite.install()
        transport.install()
        # Projects read the command line when they load their configuration.
        sys.argv = [service]
        app = importlib.import_module(f"devcloud.inside.apps.{service}")
        _listen(service, app.build(layout), layout)
    except BaseException:  # noqa: BLE001 - the threads of the back end would keep us alive
        traceback.print_exc()
        _leave(1)
    _leave(0)


def _select_threads(service: str) -> None:
    """Choose native threads before anything imports eventlet."""
    if service == "nova":
        os.environ["OS_NOVA_DISABLE_EVENTLET_PATCHING"] = "true"
        monkey_patch = importlib.import_module("nova.monkey_patch")
        monkey_patch.patch(backend="threading")
    else:
        backend = importlib.import_module("oslo_service.backend")
        backend.init_backend(backend.BackendType.THREADING)


def _listen(service: str, application: Any, layout: Layout) -> None:
    from waitress.server import create_server

    from devcloud.inside.middleware import FaultMiddleware

    server = create_server(
        FaultMiddleware(application, service, FaultFile(layout.faults)),
        host="127.0.0.1",
        port=layout.port(service),
        threads=THREADS,
        ident=None,
        channel_timeout=600,
        max_request_body_size=16 << 30,
        clear_untrusted_proxy_headers=False,
    )
    print(f"{service} listens on port {layout.port(service)}", flush=True)
    server.run()


def _leave(code: int) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    threading.current_thread().name = "main"
    main()
