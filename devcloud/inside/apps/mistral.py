"""Mistral: the engine with an executor inside it, and the API."""

import sys
from typing import Any

from devcloud.inside import sqlite
from devcloud.layout import Layout

_back_end: list[Any] = []


def build(layout: Layout) -> dict[str, Any]:
    """Return the application; the engine listens by then."""
    from mistral import config
    from oslo_config import cfg
    from oslo_log import log

    conf_file = str(layout.etc / "mistral" / "mistral.conf")
    sys.argv = ["mistral-server", "--config-file", conf_file]
    # The API registers further options when it is imported.
    from mistral.api import app

    config.parse_args(["--config-file", conf_file])
    log.setup(cfg.CONF, "mistral")
    if not layout.prepared("mistral").exists():
        _create(layout)

    from mistral.engine import engine_server

    application = app.setup_app()
    engine = engine_server.get_oslo_service(setup_profiler=False)
    engine.start()
    _back_end.append(engine)
    return {"mistral": application}


def _create(layout: Layout) -> None:
    """Create the tables as they are today; the migrations do not run on SQLite."""
    sqlite.remove(layout.database("mistral"))
    from mistral.db.v2 import api
    from mistral.services import action_manager, workflows

    api.setup_db()
    action_manager.sync_db()
    workflows.sync_db()


def stop() -> None:
    """Let no action begin any more."""
    for engine in _back_end:
        engine.stop()
