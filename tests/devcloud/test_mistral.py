"""Mistral in the cloud: workbooks that act for a tenant who does not see them; consoles."""

import base64
import json
import time
from typing import Any

import pytest

from devcloud import Devcloud

from .conftest import Connect

WORKBOOK = """
version: '2.0'
name: devcloud_test
workflows:
  look:
    input: [name]
    output: {networks: <% $.networks %>, servers: <% $.servers %>}
    tasks:
      networks:
        action: neutron.list_networks name=<% $.name %>
        publish: {networks: "<% task().result.networks.select($.name) %>"}
        on-success: servers
      servers:
        action: nova.servers_list
        publish: {servers: "<% task().result.select($.name) %>"}
"""


def eventually(read: Any, seconds: float = 60) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := read()):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return found


def target(cloud: Devcloud, service: Any, tenant: Any) -> dict[str, str]:
    """Return the headers that let an execution of the service act for the tenant."""
    listed = tenant.auth.get_access(tenant).service_catalog.catalog
    kinds = ("compute", "network", "identity")
    catalogue = {"methods": ["token"], "catalog": [s for s in listed if s["type"] in kinds]}
    return {
        "X-Target-Auth-Uri": cloud.url("keystone"),
        "X-Target-Auth-Token": tenant.get_token(),
        "X-Target-Project-Id": service.get_project_id(),
        "X-Target-Service-Catalog": base64.b64encode(json.dumps(catalogue).encode()).decode(),
    }


def test_workbook_acts_for_a_tenant(cloud: Devcloud, connect: Connect) -> None:
    """Actions of OpenStack work, with the tenant's rights; the tenant sees no execution."""
    service, tenant = connect("jeroboam").session, connect("demo").session
    url = cloud.url("mistral")
    service.post(f"{url}/workbooks", data=WORKBOOK, headers={"Content-Type": "text/plain"})
    try:
        body = {"workflow_name": "devcloud_test.look", "input": {"name": "public"}}
        headers = target(cloud, service, tenant)
        ident = service.post(f"{url}/executions", json=body, headers=headers).json()["id"]

        def ended() -> Any:
            found = service.get(f"{url}/executions/{ident}").json()
            return None if found["state"] == "RUNNING" else found

        execution = eventually(ended)
        assert execution["state"] == "SUCCESS", execution["state_info"]
        assert json.loads(execution["output"])["networks"] == ["public"]
        assert tenant.get(f"{url}/executions").json()["executions"] == []
        service.delete(f"{url}/executions/{ident}")
    finally:
        service.delete(f"{url}/workbooks/devcloud_test")


@pytest.mark.parametrize("rebuilt", [False, True])
def test_node_reports_on_its_console(connect: Connect, *, rebuilt: bool) -> None:
    """A machine prints once what its user data says; a rebuild begins a new console."""
    demo = connect("demo")
    network = demo.network.create_network(name="console")
    demo.network.create_subnet(network_id=network.id, cidr="10.7.0.0/24", ip_version=4)
    server = demo.compute.create_server(
        name="console",
        image_id=demo.image.find_image("ubuntu-kube", ignore_missing=False).id,
        flavor_id=demo.compute.find_flavor("m1.tiny", ignore_missing=False).id,
        networks=[{"uuid": network.id}],
        user_data=base64.b64encode(b'{"console": "node-report"}').decode(),
    )

    def lines() -> list[str]:
        try:
            shown = demo.compute.get_server_console_output(server.id)["output"]
        except Exception:  # noqa: BLE001 - Nova answers with an error until the machine is there
            return []
        return [line for line in shown.splitlines() if line.startswith("node-report")]

    try:
        (line,) = eventually(lines)
        if rebuilt:
            demo.compute.wait_for_server(server)
            demo.compute.rebuild_server(server, image=server.image.id)
            (again,) = eventually(lambda: [one for one in lines() if one != line])
            assert again != line
            assert len(lines()) == 1
        report = json.loads(line.removeprefix("node-report"))
        assert (report["status"], report["id"]) == ("SUCCESS", server.id)
    finally:
        demo.compute.delete_server(server)
        eventually(lambda: demo.compute.find_server(server.id) is None)
        demo.network.delete_network(network.id)
