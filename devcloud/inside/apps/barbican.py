"""Barbican: the API, which keeps secrets encrypted in its own database."""

import sys
import threading
from typing import Any

from devcloud.inside import sqlite
from devcloud.layout import Layout


def build(layout: Layout) -> dict[str, Any]:
    """Return the application."""
    from oslo_config import cfg
    from paste import deploy

    conf_file = str(layout.etc / "barbican" / "barbican.conf")
    sys.argv = ["barbican-api"]
    # Barbican and each of its plug-ins read the places of a system's configuration alone.
    cfg.find_config_files = lambda *_args, **_kwargs: [conf_file]
    if not layout.prepared("barbican").exists():
        sqlite.remove(layout.database("barbican"))
    paste = layout.venv / "etc" / "barbican" / "barbican-api-paste.ini"
    return {"barbican": _one_at_a_time(deploy.loadapp(f"config:{paste}"))}


def _one_at_a_time(application: Any) -> Any:
    """Have each request end before the next one begins.

    Barbican reads before it writes, in one transaction; two at once end in "database is locked" on
    SQLite.
    """
    turn = threading.Lock()

    def answer(environ: Any, start_response: Any) -> list[bytes]:
        with turn:
            return list(application(environ, start_response))

    return answer
