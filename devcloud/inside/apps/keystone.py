"""Keystone: schema, keys and the first administrator."""

import os
import threading
import types
from pathlib import Path
from typing import Any

from devcloud import catalogue
from devcloud.inside import sqlite
from devcloud.layout import Layout
from devcloud.options import PASSWORD


def build(layout: Layout) -> dict[str, Any]:
    """Return the application, on a bootstrapped database."""
    conf_file = str(layout.etc / "keystone" / "keystone.conf")
    os.environ["OS_KEYSTONE_CONFIG_FILES"] = conf_file
    fresh = not layout.prepared("keystone").exists()
    if fresh:
        _create(layout, conf_file)
    from keystone.wsgi.api import application

    if fresh:
        _bootstrap(layout)
    _authenticate_one_by_one()
    return {"keystone": application}


def _authenticate_one_by_one() -> None:
    """Let no two threads validate their caller's token at once.

    Keystone keeps the token at hand in its middleware, one object for the whole process, so
    requests that meet take over each other's scope: of 100 stacks created at once up to nine
    were refused a trust. Where Keystone has processes instead of threads that cannot happen.
    """
    from keystone.server.flask.request_processing.middleware import auth_context

    middleware = auth_context.AuthContextMiddleware
    validate, turn = middleware.process_request, threading.Lock()

    def process_request(self: Any, request: Any) -> Any:
        with turn:
            return validate(self, request)

    middleware.process_request = process_request


def _create(layout: Layout, conf_file: str) -> None:
    """Do what ``keystone-manage db_sync, fernet_setup, credential_setup`` do."""
    sqlite.remove(layout.database("keystone"))
    import keystone.server
    from keystone.common import fernet_utils
    from keystone.common.sql import upgrades
    from keystone.conf import CONF

    keystone.server.configure(config_files=[conf_file])
    upgrades.offline_sync_database_to_version()
    for group in ("fernet_tokens", "credential"):
        repository = Path(getattr(CONF, group).key_repository)
        repository.mkdir(parents=True, exist_ok=True, mode=0o700)
        keys = fernet_utils.FernetUtils(str(repository), 3, group)
        keys.initialize_key_repository(None, None)
    # The application is going to parse its configuration again.
    CONF.reset()


def _bootstrap(layout: Layout) -> None:
    """Do what ``keystone-manage bootstrap`` does."""
    from keystone.cmd import bootstrap

    # The application has loaded the back ends, and they can be loaded only once.
    bootstrap.backends = types.SimpleNamespace(load_backends=lambda: None)
    first = bootstrap.Bootstrapper()
    first.admin_username = first.admin_role_name = first.project_name = "admin"
    first.admin_password = PASSWORD
    first.service_name = "keystone"
    first.region_id = catalogue.REGION
    first.immutable_roles = True
    url = layout.endpoint("keystone")
    first.public_url = first.internal_url = first.admin_url = url
    first.bootstrap()
