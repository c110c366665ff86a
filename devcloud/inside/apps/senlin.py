"""Senlin: API, conductor and engine, on native threads in place of eventlet's."""

import sys
import time
from typing import Any

from devcloud.inside import sqlite
from devcloud.layout import Layout

_back_end: list[Any] = []


def build(layout: Layout) -> dict[str, Any]:
    """Return the application; conductor and engine listen by then."""
    _use_native_threads()
    conf_file = str(layout.etc / "senlin" / "senlin.conf")
    sys.argv = ["senlin-api", "--config-file", conf_file]
    import senlin.conf
    from oslo_log import log
    from senlin import objects
    from senlin.common import config, consts, messaging

    settings = senlin.conf.CONF
    config.parse_args(sys.argv, "senlin-api")
    log.setup(settings, "senlin")
    objects.register_all()
    messaging.setup()
    if not layout.prepared("senlin").exists():
        sqlite.remove(layout.database("senlin"))
        from senlin.db import api

        api.db_sync()

    from senlin.api.common import wsgi
    from senlin.conductor.service import ConductorService
    from senlin.engine.service import EngineService

    for kind, topic in (
        (ConductorService, consts.CONDUCTOR_TOPIC),
        (EngineService, consts.ENGINE_TOPIC),
    ):
        started = kind(settings.host, topic)
        started.start()
        _back_end.append(started)
    return {"senlin": wsgi.load_paste_app()}


def _use_native_threads() -> None:
    """Take eventlet out of Senlin's way, which it hard-codes in four places.

    Its green threads share one connection to SQLite and end in "database is locked".
    """
    import eventlet
    import oslo_messaging

    eventlet.sleep = time.sleep
    eventlet.monkey_patch = lambda *_args, **_kwargs: None
    make_server = oslo_messaging.get_rpc_server

    def get_rpc_server(*args: Any, **kwargs: Any) -> Any:
        return make_server(*args, **{**kwargs, "executor": "threading"})

    oslo_messaging.get_rpc_server = get_rpc_server


def stop() -> None:
    """Let no action begin any more."""
    for service in _back_end:
        service.stop()
