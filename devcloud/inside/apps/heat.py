"""Heat: both APIs and the engine."""

import sys
from typing import Any

from devcloud.inside import sqlite
from devcloud.layout import Layout

_back_end: list[Any] = []

STEP = 0.2
"""What Heat waits between two looks at what it builds, in seconds."""


def build(layout: Layout) -> dict[str, Any]:
    """Return the applications; the engine listens by then."""
    sys.argv = ["heat-api", "--config-file", str(layout.etc / "heat" / "heat.conf")]
    from heat.wsgi.api import application

    if not layout.prepared("heat").exists():
        sqlite.remove(layout.database("heat"))
        from heat.db import migration

        migration.db_sync()

    from heat.common import config
    from heat.engine import scheduler, service, template
    from heat.rpc import api
    from oslo_config import cfg

    _look_often(scheduler.TaskRunner)
    config.startup_sanity_check()
    # Loads the template classes here: several threads doing it at once would fail.
    template._get_template_extension_manager()  # noqa: SLF001 - as heat-engine does
    engine = service.EngineService(cfg.CONF.host, api.ENGINE_TOPIC)
    engine.start()
    _back_end.append(engine)
    return {"heat": application, "heat-cfn": config.load_paste_app("heat-api-cfn")}


def _look_often(runner: Any) -> None:
    """Shorten Heat's second between two looks: no machine here takes one to do anything."""
    sleep = runner._sleep  # noqa: SLF001 - it has no setting
    runner._sleep = lambda self, seconds: sleep(self, seconds and seconds * STEP)  # noqa: SLF001


def stop() -> None:
    """Let the resources that are being worked on get to a state worth recording."""
    for engine in _back_end:
        engine.stop()
