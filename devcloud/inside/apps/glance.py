"""Glance: the API only; it has no back end of its own."""

import os
from typing import Any

from devcloud.inside import sqlite
from devcloud.layout import Layout


def build(layout: Layout) -> dict[str, Any]:
    """Return the application, on a migrated database."""
    os.environ["OS_GLANCE_CONFIG_DIR"] = str(layout.etc / "glance")
    for folder in ("store", "staging", "tasks"):
        (layout.state / "images" / folder).mkdir(parents=True, exist_ok=True)
    if not layout.prepared("glance").exists():
        sqlite.remove(layout.database("glance"))
        _migrate(str(layout.etc / "glance" / "glance-api.conf"))
    from glance.wsgi.api import application

    return {"glance": application}


def _migrate(conf_file: str) -> None:
    """Do what ``glance-manage db_sync`` does."""
    from glance.cmd import manage
    from glance.common import config

    config.set_config_defaults()
    manage.CONF([], project="glance", prog="glance-api", default_config_files=[conf_file])
    manage.DbCommands().sync()
