"""Servers, simulated nodes, and what can be made to go wrong with them."""

import time
from typing import Any

from devcloud import Devcloud, Fault

from . import templates
from .conftest import Connect
from .stacks import Stacks, unique


def reason_of(stacks: Stacks, stack: str) -> str:
    shown = stacks.settled(stack)
    assert shown["stack_status"] == "CREATE_FAILED"
    return str(shown["stack_status_reason"])


def test_nodes_report_to_the_wait_condition(stacks: Stacks) -> None:
    """A condition that waits for two nodes gets a signal from each, with its own id."""
    name = unique("node")
    stack = stacks.create("nodes", templates.nodes(2, name))
    assert stacks.settled(stack)["stack_status"] == "CREATE_COMPLETE"
    servers = list(stacks.connection.compute.servers(name=name))
    assert {server.status for server in servers} == {"ACTIVE"}
    for server in servers:
        assert server.id in stacks.outputs(stack)["data"]
    addresses = stacks.outputs(stack)["addresses"]
    assert len(set(addresses)) == 2
    assert all(address.startswith("10.0.0.") for address in addresses)


def test_a_server_fails_for_the_given_reason(cloud: Devcloud, stacks: Stacks) -> None:
    """The reason is Nova's own fault and shows in Heat."""
    name = unique("bad")
    cloud.add_fault(Fault(target="server", action="fail", name=name, message="no more disks"))
    stack = stacks.create("bad", templates.node(name))
    assert "no more disks" in reason_of(stacks, stack)
    (server,) = stacks.connection.compute.servers(name=name)
    assert server.status == "ERROR"
    assert "no more disks" in server.fault["message"]


def test_a_server_can_take_long(cloud: Devcloud, stacks: Stacks) -> None:
    """The delay holds the server in BUILD, and then it comes up."""
    cloud.add_fault(Fault(target="server", action="delay", name="slow-*", seconds=2))
    started = time.monotonic()
    stack = stacks.create("slow", templates.node("slow-0"))
    assert stacks.settled(stack)["stack_status"] == "CREATE_COMPLETE"
    assert time.monotonic() - started > 2


def test_a_reboot_can_fail(cloud: Devcloud, stacks: Stacks) -> None:
    """The server ends in ERROR with the reason as its fault; a hard reboot starts it again."""
    name = unique("reboot")
    stacks.settled(stacks.create("reboot", templates.node(name)))
    compute = stacks.connection.compute
    (server,) = compute.servers(name=name)
    cloud.add_fault(Fault(target="reboot", action="fail", name=name, message="no power"))
    compute.reboot_server(server, "SOFT")
    failed = compute.wait_for_server(server, status="ERROR", failures=[], interval=1, wait=30)
    assert "no power" in compute.get_server(failed.id).fault["message"]
    cloud.clear_faults()
    compute.reboot_server(server, "HARD")
    compute.wait_for_server(server, status="ACTIVE", failures=[], interval=1, wait=30)


def test_a_failed_rebuild_can_be_repeated(cloud: Devcloud, stacks: Stacks) -> None:
    """A rebuild boots the server anew; one that fails leaves it in ERROR, not for ever."""
    name = unique("rebuild")
    stacks.settled(stacks.create("rebuild", templates.node(name)))
    compute = stacks.connection.compute
    (server,) = compute.servers(name=name)
    cloud.add_fault(Fault(target="server", action="fail", name=name, message="disk broken"))
    compute.rebuild_server(server, image=server.image["id"])
    compute.wait_for_server(server, status="ERROR", failures=[], interval=1, wait=30)
    cloud.clear_faults()
    compute.rebuild_server(server, image=server.image["id"])
    compute.wait_for_server(server, status="ACTIVE", failures=[], interval=1, wait=30)


def test_a_node_can_report_a_failure(cloud: Devcloud, stacks: Stacks) -> None:
    """The node's reason becomes the stack's reason."""
    cloud.add_fault(Fault(target="node", action="fail", message="kubeadm: no such file"))
    stack = stacks.create("sick", templates.node("sick"))
    assert "kubeadm: no such file" in reason_of(stacks, stack)


def test_a_node_can_keep_silent(cloud: Devcloud, stacks: Stacks) -> None:
    """Nobody signals, so the condition runs into its own time-out."""
    cloud.add_fault(Fault(target="node", action="drop"))
    stack = stacks.create("silent", templates.node("silent", seconds=3))
    assert "0 of 1 received" in reason_of(stacks, stack)


def test_a_node_can_report_late(cloud: Devcloud, stacks: Stacks) -> None:
    """The stack waits for it."""
    cloud.add_fault(Fault(target="node", action="delay", seconds=2))
    started = time.monotonic()
    stack = stacks.create("late", templates.node("late"))
    assert stacks.settled(stack)["stack_status"] == "CREATE_COMPLETE"
    assert time.monotonic() - started > 2


def test_a_quota_is_enforced_with_novas_own_reason(connect: Connect, stacks: Stacks) -> None:
    """A limit set through the compute API refuses the server that is too many."""
    compute = connect("admin").compute
    quotas = f"/os-quota-sets/{stacks.connection.current_project_id}"
    used = len(list(stacks.connection.compute.servers(details=False)))
    limit = {"instances": used, "force": True}
    assert compute.put(quotas, json={"quota_set": limit}).status_code == 200
    try:
        stack = stacks.create("greedy", templates.node("greedy"))
        assert "Quota exceeded for instances" in reason_of(stacks, stack)
    finally:
        compute.delete(quotas)


def test_nodes_survive_a_restart_of_nova(cloud: Devcloud, stacks: Stacks) -> None:
    """A node that was booting when Nova went down reports when Nova is back."""
    cloud.add_fault(Fault(target="node", action="delay", seconds=300, count=1))
    name = unique("survivor")
    stack = stacks.create("restart", templates.node(name))
    # A server that Nova itself had not finished would fail, as in real life.
    stacks.until(stack, "server", "CREATE_COMPLETE", seconds=60)
    deadline = time.monotonic() + 30
    while not cloud.faults.rules()[0].matches:
        assert time.monotonic() < deadline, "the node does not begin to boot"
        time.sleep(0.1)
    cloud.kill_service("nova")
    cloud.start_service("nova")
    assert stacks.settled(stack)["stack_status"] == "CREATE_COMPLETE"
    (server,) = stacks.connection.compute.servers(name=name)
    assert (server.status, server.power_state) == ("ACTIVE", 1)


def test_ports_can_be_detached_after_a_restart_of_nova(cloud: Devcloud, stacks: Stacks) -> None:
    """What was attached before is not forgotten: Heat detaches the ports of what it replaces."""
    name = unique("wired")
    stack = stacks.create("wired", templates.nodes(1, name))
    assert stacks.settled(stack)["stack_status"] == "CREATE_COMPLETE"
    compute = stacks.connection.compute
    (server,) = compute.servers(name=name)
    cloud.kill_service("nova")
    cloud.start_service("nova")
    (port,) = compute.server_interfaces(server)
    compute.delete_server_interface(port, server)
    deadline = time.monotonic() + 30
    while list(compute.server_interfaces(server)):
        assert time.monotonic() < deadline, "the port is still attached"
        time.sleep(0.2)


def test_absent_services_are_stood_in_for(stacks: Stacks) -> None:
    """Load balancers and volumes complete; the virtual IP is a port that a floating IP fits."""
    template = templates.nodes(1, **with_load_balancer())
    template["outputs"] = {
        "vip_port": {"value": {"get_attr": ["balancer", "vip_port_id"]}},
        "vip_address": {"value": {"get_attr": ["balancer", "vip_address"]}},
        "network": {"value": {"get_resource": "network"}},
    }
    stack = stacks.create("lb", template)
    assert stacks.settled(stack)["stack_status"] == "CREATE_COMPLETE"
    network = stacks.connection.network
    outputs = stacks.outputs(stack)
    (floating,) = network.ips(port_id=outputs["vip_port"])
    assert floating.status == "ACTIVE"
    assert floating.fixed_ip_address == outputs["vip_address"]
    ports = list(network.ports(network_id=outputs["network"]))
    assert {port.status for port in ports if port.device_owner != "Octavia"} == {"ACTIVE"}
    assert "network:router_interface" in {port.device_owner for port in ports}


def test_stand_ins_check_templates_as_the_real_types_do(stacks: Stacks) -> None:
    """An unknown property is refused as it would be in a real cloud."""
    template = templates.empty()
    balancer = with_load_balancer()["balancer"]
    balancer["properties"] = {"vip_subnet": "public-subnet", "colour": "blue"}
    template["resources"]["balancer"] = balancer
    body = {"stack_name": "odd", "template": template}
    answer = stacks.heat.post("/stacks", json=body)
    assert answer.status_code == 400
    assert "colour" in answer.text


def with_load_balancer() -> dict[str, Any]:
    """Resources that need Octavia and Cinder."""

    def use(name: str) -> dict[str, str]:
        return {"get_resource": name}

    def octavia(kind: str, **properties: Any) -> dict[str, Any]:
        return {"type": f"OS::Octavia::{kind}", "properties": properties}

    member = {"get_attr": ["nodes", "resource.0.first_address"]}
    return {
        "router": {
            "type": "OS::Neutron::Router",
            "properties": {"external_gateway_info": {"network": "public"}},
        },
        "interface": {
            "type": "OS::Neutron::RouterInterface",
            "properties": {"router": use("router"), "subnet": use("subnet")},
        },
        "balancer": octavia("LoadBalancer", vip_subnet=use("subnet")),
        "listener": octavia(
            "Listener", loadbalancer=use("balancer"), protocol="TCP", protocol_port=6443
        ),
        "pool": octavia(
            "Pool", listener=use("listener"), protocol="TCP", lb_algorithm="ROUND_ROBIN"
        ),
        "monitor": octavia(
            "HealthMonitor", pool=use("pool"), type="TCP", delay=5, timeout=5, max_retries=3
        ),
        "member": octavia("PoolMember", pool=use("pool"), address=member, protocol_port=6443),
        "floating": {
            "type": "OS::Neutron::FloatingIP",
            "depends_on": "interface",
            "properties": {
                "floating_network": "public",
                "port_id": {"get_attr": ["balancer", "vip_port_id"]},
            },
        },
        "volume": {"type": "OS::Cinder::Volume", "properties": {"size": 3, "volume_type": "ssd"}},
        "attachment": {
            "type": "OS::Cinder::VolumeAttachment",
            "properties": {
                "volume_id": use("volume"),
                "instance_uuid": {"get_attr": ["nodes", "resource.0"]},
            },
        },
    }
