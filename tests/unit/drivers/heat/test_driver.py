"""Each call of the driver can be repeated, whatever became of the one before."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.heat import clients
from jeroboam.drivers.heat import driver as heat_driver
from jeroboam.drivers.heat.placement import group_stack_name
from jeroboam.drivers.heat.stacks import stack_name
from jeroboam.drivers.heat.tags import group_tag
from jeroboam.drivers.k8s_fedora_coreos_v1.driver import FedoraCoreosDriver
from jeroboam.drivers.nodes.names import short_id
from jeroboam.errors import (
    CloudUnavailableError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
)
from jeroboam.models import ClusterSpec
from tests.unit.drivers.heat.accounts import ACCOUNT, with_account, with_programs
from tests.unit.drivers.heat.clusters import make_spec, secrets
from tests.unit.drivers.heat.fake_connection import FakeConnection, Thing
from tests.unit.drivers.heat.fake_heat import FakeCloud, FakeHeat, serving

DRIVER = FedoraCoreosDriver()
SPEC = make_spec(trust_id="p1")


@pytest.fixture
def heat() -> FakeHeat:
    return FakeHeat()


@pytest.fixture
def context(heat: FakeHeat) -> Iterator[DriverContext]:
    with serving(heat) as cloud:
        yield DriverContext("cluster:operation:step", cloud, secrets)


@pytest.fixture(autouse=True)
def objects(monkeypatch: pytest.MonkeyPatch) -> FakeConnection:
    """The owner's servers and networks."""
    monkeypatch.setattr(heat_driver, "NOTING_SECONDS", 0)
    connection = FakeConnection()
    monkeypatch.setattr(clients, "connection", lambda *_: connection)
    return connection


MARK = short_id(SPEC.cluster)
KEY = "cluster:operation:step"
TAGS = ["jeroboam", SPEC.cluster.uuid, KEY]
PARAMETERS = {
    "master_count": "1",
    "worker_count": "1",
    "worker_removals": "[]",
    "master_slot": "a",
    "worker_slot": "a",
    "worker_release": "before",
    "master_release": "before",
    **dict.fromkeys(
        (
            *("master_image", "master_user_data", "master_version"),
            *("worker_image", "worker_user_data", "worker_version", "worker_batch"),
        ),
        "",
    ),
}


def existing(heat: FakeHeat, status: str, **record: Any) -> None:
    record = {"tags": TAGS, "parameters": PARAMETERS, **record}
    heat.add("p1", "x", status, stack_name=stack_name(SPEC.cluster), **record)


def test_create(heat: FakeHeat, context: DriverContext) -> None:
    """A new cluster is one request with everything in it; Heat's own roll-back is off."""
    assert DRIVER.create_cluster(context, SPEC, 30) == "new"
    ((method, path, body),) = heat.changes()
    assert (method, path) == ("POST", "/stacks")
    assert body["stack_name"] == stack_name(SPEC.cluster)
    assert body["tags"] == f"jeroboam,{SPEC.cluster.uuid},cluster:operation:step"
    assert body["timeout_mins"] == 30
    assert body["disable_rollback"] is True
    assert set(body["files"]) == {"master.yaml", "node_group.yaml", "node.yaml"}
    assert set(body["parameters"]) <= set(body["template"]["parameters"])
    assert body["parameters"]["ready_timeout"] == 29 * 60


def test_lost_race(heat: FakeHeat, context: DriverContext) -> None:
    """A create that meets the stack of a twin returns that stack."""
    heat.name_is_taken = True
    with pytest.raises(ConflictError):
        DRIVER.create_cluster(context, SPEC, 30)
    existing(heat, "CREATE_IN_PROGRESS")
    assert DRIVER.create_cluster(context, SPEC, 30) == "stack-x"


@pytest.mark.parametrize("status", ["CREATE_IN_PROGRESS", "CREATE_COMPLETE", "UPDATE_COMPLETE"])
def test_repeated_create(heat: FakeHeat, context: DriverContext, status: str) -> None:
    """A stack that is well is left alone."""
    existing(heat, status)
    assert DRIVER.create_cluster(context, SPEC, 30) == "stack-x"
    assert heat.changes() == []


def test_resumed_create(heat: FakeHeat, context: DriverContext) -> None:
    """A stack that failed or was lost is gone on with, on its own template and parameters."""
    heat.engines = [{"status": "up", "created_at": "2026-01-02T12:00:30.5"}]
    for status in ("CREATE_FAILED", "CREATE_IN_PROGRESS"):
        heat.stacks.clear()
        heat.requests.clear()
        existing(heat, status)
        assert DRIVER.create_cluster(context, SPEC, 20) == "stack-x"
        ((method, path, body),) = heat.changes()
        assert (method, path) == ("PATCH", "/stacks/stack-x")
        assert body == {
            "parameters": {},
            "tags": f"jeroboam,{SPEC.cluster.uuid},{KEY}",
            "timeout_mins": 20,
            "disable_rollback": True,
        }


def test_leftovers_go_first(
    heat: FakeHeat, context: DriverContext, objects: FakeConnection
) -> None:
    """Before a stack is resumed or deleted, what Heat has lost track of is removed."""
    mark = SPEC.cluster.uuid.replace("-", "")[:12]
    heat.resources = [{"resource_name": "server", "physical_resource_id": "known"}]
    existing(heat, "CREATE_FAILED")
    for call in (
        lambda: DRIVER.create_cluster(context, SPEC, 20),
        lambda: DRIVER.delete_cluster(context, SPEC),
    ):
        objects.add(Thing("known", "port", f"x-{mark}"), Thing("lost", "port", f"x-{mark}"))
        call()
        assert set(objects.things) == {"known"}
    heat.stacks.clear()
    DRIVER.delete_cluster(context, SPEC)
    assert objects.things == {}


def test_what_was_replaced_stays(
    heat: FakeHeat, context: DriverContext, objects: FakeConnection
) -> None:
    """A roll-back takes up what a failed update has replaced; Heat lists it in its events only."""
    existing(heat, "UPDATE_FAILED")
    heat.resources = [{"resource_name": "server", "physical_resource_id": "new"}]
    heat.events = [{"resource_name": "server", "physical_resource_id": "old"}]
    names = ("new", "old", "lost")
    objects.add(*(Thing(name, "server", f"x-{MARK}") for name in names))
    DRIVER.create_cluster(context, SPEC, 20)
    assert set(objects.things) == {"new", "old"}


@pytest.mark.parametrize("status", ["CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS"])
def test_delete_leaves_to_heat_what_it_works_at(
    heat: FakeHeat, context: DriverContext, objects: FakeConnection, status: str
) -> None:
    """While Heat is at work nothing is taken from under it; it has not noted all yet."""
    existing(heat, status)
    objects.add(Thing("new", "port", f"x-{MARK}"))
    DRIVER.delete_cluster(context, SPEC)
    assert set(objects.things) == {"new"}
    assert [method for method, _, _ in heat.changes()] == ["DELETE"]


def test_trouble_with_leftovers(
    heat: FakeHeat, context: DriverContext, objects: FakeConnection
) -> None:
    """What cannot be removed at the moment does not keep the stack, nor is it passed over."""
    existing(heat, "CREATE_FAILED")
    objects.add(Thing("lost", "port", f"x-{MARK}"), Thing("group", "server group", MARK))
    objects.failing.add("lost")
    DRIVER.delete_cluster(context, SPEC)
    assert [method for method, _, _ in heat.changes()] == ["DELETE"]
    assert set(objects.things) == {"lost"}
    with pytest.raises(CloudUnavailableError):
        DRIVER.create_cluster(context, SPEC, 20)
    heat.stacks.clear()
    with pytest.raises(CloudUnavailableError):
        DRIVER.delete_cluster(context, SPEC)
    objects.failing.clear()
    DRIVER.delete_cluster(context, SPEC)
    assert objects.things == {}


def test_clean_stack_is_deleted_without_a_search(
    heat: FakeHeat, context: DriverContext, objects: FakeConnection
) -> None:
    """A stack that was built in one go has no leftovers to look for."""
    existing(heat, "CREATE_COMPLETE")
    objects.add(Thing("x", "port", SPEC.cluster.uuid.replace("-", "")[:12]))
    DRIVER.delete_cluster(context, SPEC)
    assert set(objects.things) == {"x"}


def test_delete(heat: FakeHeat, context: DriverContext) -> None:
    """What is not there is deleted; what is being deleted is not disturbed."""
    DRIVER.delete_cluster(context, SPEC)
    assert heat.changes() == []
    for status, expected in (
        ("CREATE_IN_PROGRESS", 1),
        ("CREATE_FAILED", 1),
        ("DELETE_FAILED", 1),
        ("DELETE_IN_PROGRESS", 0),
        ("DELETE_COMPLETE", 0),
    ):
        heat.stacks.clear()
        heat.requests.clear()
        existing(heat, status)
        DRIVER.delete_cluster(context, SPEC)
        assert [method for method, _, _ in heat.changes()] == ["DELETE"] * expected, status


def test_lost_delete(heat: FakeHeat, context: DriverContext) -> None:
    """A delete that a restarted Heat has forgotten is submitted again."""
    heat.engines = [{"status": "up", "created_at": "2026-01-02T12:00:30.5"}]
    existing(heat, "DELETE_IN_PROGRESS")
    DRIVER.delete_cluster(context, SPEC)
    assert [method for method, _, _ in heat.changes()] == ["DELETE"]


def test_stack_id_that_was_stored(heat: FakeHeat, context: DriverContext) -> None:
    """The stored id finds the stack; one that leads nowhere does not hide the stack's name."""
    existing(heat, "CREATE_FAILED")
    for stack_id in ("stack-x", "gone"):
        cluster = SPEC.cluster.model_copy(update={"stack_id": stack_id})
        DRIVER.delete_cluster(context, SPEC.model_copy(update={"cluster": cluster}))
    assert [path for _, path, _ in heat.changes()] == ["/stacks/stack-x"] * 2


def test_create_by_another_call(heat: FakeHeat, context: DriverContext) -> None:
    """A stack that another call made gets the key of this one, for the wait that follows."""
    existing(heat, "CREATE_COMPLETE", tags=["jeroboam", SPEC.cluster.uuid, "another key"])
    assert DRIVER.create_cluster(context, SPEC, 20) == "stack-x"
    ((method, _, body),) = heat.changes()
    assert method == "PATCH"
    assert body["tags"].endswith(f",{KEY}")
    assert body["parameters"] == {}


BEFORE = ["jeroboam", SPEC.cluster.uuid, "the call before"]


def test_update(heat: FakeHeat, context: DriverContext) -> None:
    """A resize sends the new count and nothing else of the stack; Heat's own roll-back is off."""
    existing(heat, "CREATE_COMPLETE", tags=BEFORE)
    target = resized(3)
    DRIVER.update_cluster(context, target, target.workers[0], (), 30)
    ((method, path, body),) = heat.changes()
    assert (method, path) == ("PATCH", "/stacks/stack-x")
    assert body == {
        "parameters": {"worker_count": 3, "worker_removals": []},
        "tags": f"jeroboam,{SPEC.cluster.uuid},{KEY}",
        "timeout_mins": 30,
        "disable_rollback": True,
    }


def test_update_of_masters(heat: FakeHeat, context: DriverContext) -> None:
    """Masters have no list of removals."""
    existing(heat, "CREATE_COMPLETE", tags=BEFORE)
    masters = SPEC.masters.model_copy(update={"node_count": 3})
    DRIVER.update_cluster(context, SPEC, masters, (), 30)
    ((_, _, body),) = heat.changes()
    assert body["parameters"] == {"master_count": 3}


@pytest.mark.parametrize("status", ["UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"])
def test_repeated_update(heat: FakeHeat, context: DriverContext, status: str) -> None:
    """A call that has arrived is not submitted again while Heat is at it or done."""
    existing(heat, status)
    DRIVER.update_cluster(context, SPEC, SPEC.workers[0], (), 30)
    assert heat.changes() == []


@pytest.mark.parametrize("status", ["UPDATE_IN_PROGRESS", "UPDATE_FAILED", "CREATE_COMPLETE"])
def test_update_takes_over(heat: FakeHeat, context: DriverContext, status: str) -> None:
    """A new call is submitted whatever the one before has come to: so roll-backs work."""
    existing(heat, status, tags=BEFORE)
    DRIVER.update_cluster(context, SPEC, SPEC.workers[0], (), 30)
    assert [method for method, _, _ in heat.changes()] == ["PATCH"]


def test_lost_update(heat: FakeHeat, context: DriverContext, objects: FakeConnection) -> None:
    """An update that a restarted Heat has forgotten is repeated, without what was lost track of."""
    heat.engines = [{"status": "up", "created_at": "2026-01-02T12:00:30.5"}]
    existing(heat, "UPDATE_IN_PROGRESS")
    objects.add(Thing("lost", "port", f"x-{SPEC.cluster.uuid.replace('-', '')[:12]}"))
    DRIVER.update_cluster(context, SPEC, SPEC.workers[0], (), 30)
    assert [method for method, _, _ in heat.changes()] == ["PATCH"]
    assert objects.things == {}


def test_update_of_dying_stack(heat: FakeHeat, context: DriverContext) -> None:
    """A stack that is being deleted cannot be changed."""
    existing(heat, "DELETE_IN_PROGRESS", tags=BEFORE)
    with pytest.raises(ConflictError, match="is being deleted"):
        DRIVER.update_cluster(context, SPEC, SPEC.workers[0], (), 30)


def test_update_of_old_stack(heat: FakeHeat, context: DriverContext) -> None:
    """A stack of an earlier version of the driver says that it cannot, and what can be done."""
    existing(heat, "CREATE_COMPLETE", tags=BEFORE, parameters={"worker_count": "1"})
    with pytest.raises(InvalidRequestError, match=r"earlier version .* worker_removals"):
        DRIVER.update_cluster(context, SPEC, SPEC.workers[0], (), 30)
    assert heat.changes() == []


def record(name: str, kind: str, status: str, stack: str, *required_by: str) -> dict[str, Any]:
    links = [{"rel": "stack", "href": f"http://heat/v1/p/stacks/name/{stack}"}]
    return {
        "resource_name": name,
        "resource_type": f"OS::Heat::{kind}",
        "resource_status": status,
        "required_by": required_by,
        "links": links,
    }


def test_silent_nodes_get_a_new_chance(heat: FakeHeat, context: DriverContext) -> None:
    """Of nodes that did not become ready the handle is replaced, and so the server; others stay."""
    handle, condition = "WaitConditionHandle", "WaitCondition"
    heat.resources = [
        record("ready", condition, "CREATE_FAILED", "stack-one"),
        record("ready_handle", handle, "CREATE_COMPLETE", "stack-one", "ready", "server"),
        record("ready_b", condition, "DELETE_FAILED", "stack-one"),
        record("ready_handle_b", handle, "DELETE_COMPLETE", "stack-one", "ready_b"),
        record("ready_b", condition, "CREATE_COMPLETE", "two"),
        record("ready_handle_b", handle, "CREATE_COMPLETE", "two", "ready_b"),
    ]
    existing(heat, "UPDATE_FAILED")
    heat.add("p1", "one", "UPDATE_FAILED")
    DRIVER.update_cluster(context, SPEC, SPEC.workers[0], (), 30)
    first, second = heat.changes()
    assert first[1] == "/stacks/name-one/stack-one/resources/ready_handle"
    assert first[2]["mark_unhealthy"] is True
    assert second[1] == "/stacks/stack-x"


def upgrade(context: DriverContext, spec: ClusterSpec, batch: int | None = 2) -> None:
    DRIVER.upgrade_node_group(context, spec, spec.workers[0], batch, 30)


def test_upgrade(heat: FakeHeat, context: DriverContext) -> None:
    """An upgrade changes what one group is set up from, its slot and the size of a batch."""
    existing(heat, "CREATE_COMPLETE", tags=BEFORE)
    spec = make_spec(trust_id="p1", uuid=SPEC.cluster.uuid, labels={"kube_tag": "v1.38.0"})
    upgrade(context, spec)
    ((_, _, body),) = heat.changes()
    sent = body["parameters"]
    assert set(sent) == {
        f"worker_{name}" for name in ("image", "user_data", "release", "version", "slot", "batch")
    }
    assert (sent["worker_version"], sent["worker_slot"], sent["worker_batch"]) == (
        "v1.38.0",
        "b",
        2,
    )


def test_upgrade_to_what_is_there(heat: FakeHeat, context: DriverContext) -> None:
    """A group that is set up so already keeps its slot, and with it its servers."""
    release = DRIVER.setup(context, SPEC, SPEC.workers[0]).release
    parameters = {**PARAMETERS, "worker_release": release, "worker_slot": "b"}
    existing(heat, "CREATE_COMPLETE", tags=BEFORE, parameters=parameters)
    upgrade(context, SPEC, None)
    ((_, _, body),) = heat.changes()
    assert body["parameters"]["worker_slot"] == "b"
    assert body["parameters"]["worker_batch"] == 1


def test_upgrade_after_another_account(heat: FakeHeat, context: DriverContext) -> None:
    """Masters that were set up with a former account stay, also where they may not be replaced."""
    spec = with_programs(trust_id="p1", uuid=SPEC.cluster.uuid)
    was = replace(context, read_secrets=with_account)
    release = DRIVER.setup(was, spec, spec.masters).release
    parameters = {**PARAMETERS, "master_release": release, "master_slot": "b"}
    existing(heat, "CREATE_COMPLETE", tags=BEFORE, parameters=parameters)
    another = replace(ACCOUNT, password="another")
    now = replace(context, read_secrets=lambda: with_account(another))
    DRIVER.upgrade_node_group(now, spec, spec.masters, 1, 30)
    ((_, _, body),) = heat.changes()
    assert body["parameters"]["master_slot"] == "b"
    assert body["parameters"]["master_release"] == release
    # Heat replaces a server whose user data differ, whatever they are about.
    assert "master_user_data" not in body["parameters"]


def test_upgrade_of_the_only_master(heat: FakeHeat, context: DriverContext) -> None:
    """The only master is not replaced where that would lose the state, whoever asks for it."""
    existing(heat, "CREATE_COMPLETE", tags=BEFORE)
    with pytest.raises(InvalidRequestError, match="would lose the state"):
        DRIVER.upgrade_node_group(context, SPEC, SPEC.masters, 1, 30)
    assert heat.changes() == []


def with_group(spec: ClusterSpec) -> ClusterSpec:
    changes = {"uuid": GROUP, "name": "gpu", "is_default": False}
    extra = spec.workers[0].model_copy(update=changes)
    return spec.model_copy(update={"node_groups": (*spec.node_groups, extra)})


GROUP = "11111111-2222-3333-4444-555555555555"
OUTPUTS = {
    "network": "net",
    "subnet": "sub",
    "worker_security_groups": ["one", None, "two"],
    "worker_floating_network": "public",
    "api_address_private": "10.0.0.4",
}


def test_node_group(heat: FakeHeat, context: DriverContext) -> None:
    """A further group is a stack of its own in the cluster's network, with marks of both."""
    listed = [{"output_key": key, "output_value": value} for key, value in OUTPUTS.items()]
    existing(heat, "CREATE_COMPLETE", outputs=listed)
    spec = with_group(SPEC)
    group = spec.group(GROUP)
    assert DRIVER.create_node_group(context, spec, group, 30) == "new"
    ((_, path, body),) = heat.changes()
    assert path == "/stacks"
    assert body["stack_name"] == group_stack_name(spec.cluster, group)
    assert body["tags"].split(",") == ["jeroboam", spec.cluster.uuid, group_tag(GROUP), KEY]
    sent = body["parameters"]
    assert sent["security_groups"] == ["one", "two"]
    assert (sent["network"], sent["api_address"]) == ("net", "10.0.0.4")
    assert sent["group_name"] == "gpu-111111"
    assert set(sent) <= set(body["template"]["parameters"])


def existing_group(heat: FakeHeat, status: str) -> None:
    spec = with_group(SPEC)
    heat.add(
        "p1",
        "g",
        status,
        stack_name=group_stack_name(spec.cluster, spec.group(GROUP)),
        tags=["jeroboam", spec.cluster.uuid, group_tag(GROUP), "key"],
    )


def test_cluster_goes_after_its_groups(heat: FakeHeat, context: DriverContext) -> None:
    """The stacks of groups are deleted first, even of a group that no row tells of."""
    existing(heat, "CREATE_COMPLETE")
    existing_group(heat, "CREATE_COMPLETE")
    DRIVER.delete_cluster(context, SPEC)
    assert [path for _, path, _ in heat.changes()] == ["/stacks/stack-g"]
    heat.stacks["p1"] = [one for one in heat.stacks["p1"] if one["id"] != "stack-g"]
    DRIVER.delete_cluster(context, SPEC)
    assert [path for _, path, _ in heat.changes()] == ["/stacks/stack-g", "/stacks/stack-x"]


def test_delete_of_node_group(heat: FakeHeat, context: DriverContext) -> None:
    """A group's stack is deleted and the cluster's is left alone; what is not there is success."""
    spec = with_group(SPEC)
    existing(heat, "CREATE_COMPLETE")
    DRIVER.delete_node_group(context, spec, spec.group(GROUP))
    assert heat.changes() == []
    existing_group(heat, "CREATE_COMPLETE")
    DRIVER.delete_node_group(context, spec, spec.group(GROUP))
    assert [path for _, path, _ in heat.changes()] == ["/stacks/stack-g"]


def resized(count: int) -> ClusterSpec:
    workers = SPEC.workers[0].model_copy(update={"node_count": count})
    return SPEC.model_copy(update={"node_groups": (SPEC.masters, workers)})


def test_update_of_nothing(context: DriverContext) -> None:
    """A cluster without a stack cannot be changed."""
    with pytest.raises(NotFoundError, match="has no stack"):
        DRIVER.update_cluster(context, SPEC, SPEC.workers[0], (), 30)


def test_outputs(heat: FakeHeat, context: DriverContext) -> None:
    """Outputs of the stack and versions of the labels become the cluster's."""
    outputs = {
        "api_address": "https://192.0.2.1:6443",
        "master_addresses": ["192.0.2.1"],
        "node_addresses": [""],
        "node_addresses_private": ["10.0.0.7"],
    }
    listed = [{"output_key": key, "output_value": value} for key, value in outputs.items()]
    existing(heat, "CREATE_COMPLETE", outputs=listed)
    found = DRIVER.read_outputs(context, SPEC)
    assert found.api_address == "https://192.0.2.1:6443"
    assert found.coe_version == "v1.37.1"
    assert found.node_addresses == {
        SPEC.masters.uuid: ("192.0.2.1",),
        SPEC.workers[0].uuid: ("10.0.0.7",),
    }


def test_cloud_is_unused_by_validation() -> None:
    """Validation needs neither cloud nor secrets."""
    DRIVER.validate(SPEC)


def test_names_of_hosts() -> None:
    """Any cluster name gives names of hosts that Kubernetes takes."""
    for name in ("x", "Größe_1", "a" * 242, "A.b-C", "-"):
        facts = DRIVER.facts(
            DriverContext("k", FakeCloud(FakeHeat()), secrets), make_spec(name=name), 60
        )
        host = f"{facts['names']['cluster']}-{facts['names']['workers']}-1000"
        assert len(host) <= 63
        assert host.strip("-") == host
        assert host.replace("-", "").isalnum()
        assert host.isascii()
        assert host == host.lower()
