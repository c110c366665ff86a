"""Runs one service whole, API and back end, in this process.

Usage: ``python -m devcloud.inside.serve SERVICE``, with ``DEVCLOUD_HOME`` set.
"""

import contextlib
import importlib
import os
import resource
import signal
import sys
import threading
import traceback
from typing import Any, NoReturn

from devcloud.faults import FaultFile
from devcloud.inside.home import current
from devcloud.layout import Layout, write_private

THREADS = 16
CONNECTIONS = 8192
FINISH_SECONDS = 5.0


def main() -> NoReturn:
    """Serve until SIGTERM."""
    service = sys.argv[1]
    signal.signal(signal.SIGTERM, lambda *_: _terminate(service))
    try:
        layout = current()
        _raise_file_limit()
        _select_threads(service)
        # The patches import oslo libraries, so they come after the choice of threads.
        from devcloud.inside import sqlite, transport

        sqlite.install()
        transport.install()
        # Projects read the command line when they load their configuration.
        sys.argv = [service]
        app = importlib.import_module(f"devcloud.inside.apps.{service}")
        _serve(app.build(layout), layout)
    except BaseException:  # noqa: BLE001 - the threads of the back end would keep us alive
        traceback.print_exc()
        _leave(1)
    _leave(0)


def _raise_file_limit() -> None:
    """Allow as many open files as the system lets us; each connection is one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * CONNECTIONS
    soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _select_threads(service: str) -> None:
    """Choose native threads before anything imports eventlet."""
    if service == "nova":
        os.environ["OS_NOVA_DISABLE_EVENTLET_PATCHING"] = "true"
        monkey_patch = importlib.import_module("nova.monkey_patch")
        monkey_patch.patch(backend="threading")
    else:
        backend = importlib.import_module("oslo_service.backend")
        backend.init_backend(backend.BackendType.THREADING)


def _serve(applications: dict[str, Any], layout: Layout) -> None:
    """Listen for all applications; the last one, and with it this call, runs for ever."""
    from waitress.server import create_server

    from devcloud.inside.middleware import FaultMiddleware

    faults = FaultFile(layout.faults)
    servers = []
    for service, application in applications.items():
        server = create_server(
            FaultMiddleware(application, service, faults),
            # Several servers in one process must not watch each other's sockets.
            map={},
            host="127.0.0.1",
            port=layout.port(service),
            threads=THREADS,
            ident=None,
            # Heat and Nova open connections by the hundred and keep them: the default limit
            # of 100 would stop all service until the first of them time out.
            connection_limit=CONNECTIONS,
            asyncore_use_poll=True,
            channel_timeout=120,
            max_request_body_size=16 << 30,
            clear_untrusted_proxy_headers=False,
        )
        print(f"{service} listens on port {layout.port(service)}", flush=True)
        servers.append(server)
    main = next(iter(applications))
    write_private(layout.listening(main), f"{os.getpid()}\n")
    for server in servers[1:]:
        threading.Thread(target=server.run, daemon=True).start()
    servers[0].run()


def _terminate(service: str) -> NoReturn:
    """Give the back end a moment to finish, then go."""
    module = sys.modules.get(f"devcloud.inside.apps.{service}")
    stop = getattr(module, "stop", None)
    if stop:
        finishing = threading.Thread(target=stop, daemon=True)
        finishing.start()
        finishing.join(FINISH_SECONDS)
    _leave(0)


def _leave(code: int) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    threading.current_thread().name = "main"
    main()
