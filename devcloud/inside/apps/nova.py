"""Nova: conductor, scheduler, one compute host and the API."""

import os
import sys
import time
from typing import Any

from devcloud import state
from devcloud.inside import sqlite
from devcloud.layout import Layout

KEYSTONE_SECONDS = 120.0
_back_end: list[Any] = []


def build(layout: Layout) -> dict[str, Any]:
    """Return the application; the compute host is up and mapped by then."""
    conf_file = str(layout.etc / "nova" / "nova.conf")
    # The first file is the paste configuration, whatever [wsgi]api_paste_config says.
    os.environ["OS_NOVA_CONFIG_FILES"] = f"{layout.venv}/etc/nova/api-paste.ini;{conf_file}"
    (layout.state / "nova" / "instances").mkdir(parents=True, exist_ok=True)

    import nova.conf
    import os_vif
    from nova import objects
    from nova.api.openstack import wsgi_app
    from oslo_service import opts

    wsgi_app.init_global_data([conf_file], "osapi_compute", "nova")
    opts.register_service_opts(nova.conf.CONF)
    objects.register_all()
    os_vif.initialize()
    if not layout.prepared("nova").exists():
        _create(layout)
    _wait_for_placement()
    _start_back_end()
    return {"nova": wsgi_app.init_application("osapi_compute", "nova-api")}


def _create(layout: Layout) -> None:
    """Do what ``nova-manage api_db sync, db sync, cell_v2 map_cell0 / create_cell`` do."""
    for name in ("nova_api", "nova_cell0", "nova_cell1"):
        sqlite.remove(layout.database(name))
    from nova import context, objects
    from nova.db import migration
    from oslo_utils import uuidutils

    migration.db_sync(database="api")
    migration.db_sync(database="main")
    state.copy_database(layout.database("nova_cell1"), layout.database("nova_cell0"))
    cells = (
        ("cell0", objects.CellMapping.CELL0_UUID, "none:///", "nova_cell0"),
        ("cell1", uuidutils.generate_uuid(), "fake://", "nova_cell1"),
    )
    for name, uuid, transport, database in cells:
        objects.CellMapping(
            context.get_admin_context(),
            uuid=uuid,
            name=name,
            transport_url=transport,
            database_connection=f"sqlite:///{layout.database(database)}",
        ).create()


def _wait_for_placement() -> None:
    """Wait until Nova's own user can log in and finds Placement.

    On the first start of a devcloud, Keystone is being filled at this moment.
    """
    from keystoneauth1 import exceptions, loading
    from nova.conf import CONF

    deadline = time.monotonic() + KEYSTONE_SECONDS
    while True:
        try:
            auth = loading.load_auth_from_conf_options(CONF, "placement")
            session = loading.load_session_from_conf_options(CONF, "placement", auth=auth)
            session.get("/", endpoint_filter={"service_type": "placement"})
        except exceptions.ClientException:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        else:
            return


def _start_back_end() -> None:
    from devcloud.inside import compute as driver

    # Nova looks for drivers in its own package only.
    sys.modules["nova.virt.devcloud"] = driver
    from nova import context, service
    from nova.compute import rpcapi as compute
    from nova.conductor import rpcapi as conductor
    from nova.objects import host_mapping
    from nova.scheduler import rpcapi as scheduler

    for binary, topic, extra in (
        ("nova-conductor", conductor.RPC_TOPIC, {}),
        ("nova-scheduler", scheduler.RPC_TOPIC, {}),
        ("nova-compute", compute.RPC_TOPIC, {"topic_alt": compute.RPC_TOPIC_ALT}),
    ):
        started = service.Service.create(binary=binary, topic=topic, **extra)
        started.start()
        _back_end.append(started)
    host_mapping.discover_hosts(context.get_admin_context())
