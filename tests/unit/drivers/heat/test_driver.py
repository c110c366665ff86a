"""Each call of the driver can be repeated, whatever became of the one before."""

from collections.abc import Iterator
from typing import Any

import pytest

from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.heat import leftovers
from jeroboam.drivers.heat.stacks import stack_name
from jeroboam.drivers.k8s_fedora_coreos_v1.driver import FedoraCoreosDriver
from jeroboam.errors import ConflictError, NotFoundError
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
    connection = FakeConnection()
    monkeypatch.setattr(leftovers, "connection", lambda *_: connection)
    return connection


def existing(heat: FakeHeat, status: str, **record: Any) -> None:
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
        assert body == {"timeout_mins": 20, "disable_rollback": True}


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


def test_update(heat: FakeHeat, context: DriverContext) -> None:
    """A resize sends the new count and nothing else of the stack; Heat's own roll-back is off."""
    existing(heat, "CREATE_COMPLETE")
    DRIVER.update_cluster(context, SPEC, SPEC.workers[0], (), 30)
    ((method, _, body),) = heat.changes()
    assert method == "PATCH"
    assert "template" not in body
    assert body["parameters"]["worker_count"] == 1
    assert body["disable_rollback"] is True


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
