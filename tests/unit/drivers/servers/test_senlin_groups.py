"""What the driver asks of Senlin, so that a cluster gets the nodes that it shall have."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from jeroboam.drivers.base import Phase, Progress, Watch
from jeroboam.drivers.senlin import poller
from jeroboam.drivers.senlin.groups import Groups
from jeroboam.drivers.senlin.poller import made
from jeroboam.drivers.senlin.records import MARK, NODE, Record, name_of
from jeroboam.drivers.servers.engine import job_key
from jeroboam.models import Cluster, Method
from tests.unit.drivers.heat.clusters import make_spec
from tests.unit.drivers.servers.fake_senlin import FakeSenlin

NOTHING: dict[str, list[str]] = {"servers": [], "ports": []}
PORTS: dict[str, Any] = {"properties": {"networks": [{"port": "p"}]}}


@pytest.fixture
def cluster() -> Cluster:
    return make_spec().cluster


@pytest.fixture
def senlin(cluster: Cluster) -> FakeSenlin:
    return FakeSenlin(cluster.project_id)


def server(name: str, ident: str | None = None) -> dict[str, Any]:
    return {"name": name, "id": ident, "group": name.split("-")[1]}


def apply(groups: Groups, key: str, names: Sequence[str], surplus: Any = None) -> Record:
    """Do what the engine does, without network and servers."""
    there = {name_of(one): str(one["physical_id"]) for one in groups.nodes}
    servers = [server(name, there.get(name)) for name in names]
    record = groups.begin(groups.record() or groups.make_record(PORTS), names)
    record = groups.remove(record, groups.leaving(surplus or NOTHING, servers))
    for one in servers:
        groups.make(record, one, PORTS, 10)
    groups.finish(record, key, names)
    return record


def names_of(senlin: FakeSenlin) -> list[str]:
    return sorted(node["metadata"][NODE] for node in senlin.kept["nodes"].values())


def test_each_group_is_a_cluster(senlin: FakeSenlin, cluster: Cluster) -> None:
    """Nodes are made in the cluster of their group; the note tells of the call."""
    apply(Groups(senlin, cluster), "key", ["c-master-0", "c-worker-0", "c-worker-1"])
    after = Groups(senlin, cluster)
    assert sorted(str(one["name"]) for one in after.clusters) == ["c-master", "c-worker"]
    record = after.record()
    assert record
    assert record.call == "key"
    assert made(record, after.nodes, after.clusters, after.actions(record)).phase is Phase.DONE


def test_a_repeated_call_makes_nothing_twice(senlin: FakeSenlin, cluster: Cluster) -> None:
    apply(Groups(senlin, cluster), "key", ["c-worker-0"])
    before = {kind: set(kept) for kind, kept in senlin.kept.items()}
    apply(Groups(senlin, cluster), "key", ["c-worker-0"])
    assert {kind: set(kept) for kind, kept in senlin.kept.items()} == before


def test_a_call_that_broke_off_is_gone_on_with(senlin: FakeSenlin, cluster: Cluster) -> None:
    """Until all of a call has come to Senlin, the note does not name it."""
    groups = Groups(senlin, cluster)
    record = groups.begin(groups.make_record(PORTS), ["c-worker-0", "c-worker-1"])
    groups.make(record, server("c-worker-0"), PORTS, 10)
    noted = Groups(senlin, cluster).record()
    assert noted
    assert noted.call == ""
    apply(Groups(senlin, cluster), "key", ["c-worker-0", "c-worker-1"])
    assert names_of(senlin) == ["c-worker-0", "c-worker-1"]
    assert len(senlin.kept["clusters"]) == 1


def test_named_nodes_go_and_their_profiles_with_the_next_call(
    senlin: FakeSenlin, cluster: Cluster
) -> None:
    apply(Groups(senlin, cluster), "first", ["c-worker-0", "c-worker-1"])
    surplus = {"servers": ["server-of-c-worker-0"], "ports": []}
    record = apply(Groups(senlin, cluster), "second", ["c-worker-1"], surplus)
    assert names_of(senlin) == ["c-worker-1"]
    assert record.actions == ("removal",)
    apply(Groups(senlin, cluster), "third", ["c-worker-1"])
    assert senlin.profiles(["c-worker-0"]) == []
    assert len(senlin.profiles(["c-worker-1"])) == 1


def test_a_group_without_nodes_is_no_cluster(senlin: FakeSenlin, cluster: Cluster) -> None:
    apply(Groups(senlin, cluster), "first", ["c-master-0", "c-worker-0"])
    surplus = {"servers": ["server-of-c-worker-0"], "ports": []}
    apply(Groups(senlin, cluster), "second", [], surplus)
    assert [one["name"] for one in Groups(senlin, cluster).clusters] == ["c-master"]


def test_a_node_that_lost_its_server_is_made_anew(senlin: FakeSenlin, cluster: Cluster) -> None:
    apply(Groups(senlin, cluster), "first", ["c-worker-0", "c-worker-1"])
    (broken,) = [n for n in senlin.kept["nodes"].values() if name_of(n) == "c-worker-0"]
    groups = Groups(senlin, cluster)
    servers = [server("c-worker-0"), server("c-worker-1", "server-of-c-worker-1")]
    assert [one["id"] for one in groups.leaving(NOTHING, servers)] == [broken["id"]]


def test_nodes_that_senlin_is_at_are_named(senlin: FakeSenlin, cluster: Cluster) -> None:
    """Nodes that are made or removed at this moment are, those that failed are not."""
    apply(Groups(senlin, cluster), "first", ["c-worker-0", "c-worker-1", "c-worker-2"])
    for node, status in zip(
        senlin.kept["nodes"].values(), ("CREATING", "ERROR", "DELETING"), strict=True
    ):
        node["status"] = status
    assert Groups(senlin, cluster).at_work() == ["c-worker-0", "c-worker-2"]


def test_nothing_is_left_in_the_end(senlin: FakeSenlin, cluster: Cluster) -> None:
    """Everything is named until it is gone, the profiles with the keys last."""
    apply(Groups(senlin, cluster), "first", ["c-master-0", "c-worker-0"])
    groups = Groups(senlin, cluster)
    assert len(groups.leftovers()) == 2 + 2 + 3
    record = groups.record()
    assert record
    groups.remove(groups.begin(record, []), groups.nodes)
    assert set(senlin.forced) == {str(one["id"]) for one in groups.clusters}
    after = Groups(senlin, cluster)
    assert after.empty()
    assert len(after.leftovers()) == 3
    after.forget_profiles()
    assert list(Groups(senlin, cluster).leftovers()) == []


def test_marks_of_another_project_mean_nothing(senlin: FakeSenlin, cluster: Cluster) -> None:
    """Whoever gives objects the marks of a cluster cannot have them taken for it."""
    other = FakeSenlin("of-somebody-else")
    apply(Groups(senlin, cluster), "key", ["c-worker-0"])
    for kind, kept in senlin.kept.items():
        other.kept[kind] = {name: {**one, "project": "strange"} for name, one in kept.items()}
    found = Groups(other, cluster)
    assert found.empty()
    assert found.record() is None
    assert list(found.leftovers()) == []


def test_what_is_without_a_note_is_removed_as_well(senlin: FakeSenlin, cluster: Cluster) -> None:
    apply(Groups(senlin, cluster), "key", ["c-worker-0"])
    senlin.make_node("c-worker-9", "none", "", {MARK: cluster.uuid, NODE: "c-worker-9"})
    Groups(senlin, cluster).delete_all()
    assert Groups(senlin, cluster).empty()


def a_removal_that_ends_when_it_is_asked_for(senlin: FakeSenlin, cluster: Cluster) -> None:
    """Have a call remove a node, and leave the node there until somebody asks for the action."""
    apply(Groups(senlin, cluster), "first", ["c-worker-0", "c-worker-1"])
    nodes = dict(senlin.kept["nodes"])
    surplus = {"servers": ["server-of-c-worker-0"], "ports": []}
    apply(Groups(senlin, cluster), "second", ["c-worker-1"], surplus)
    left, senlin.kept["nodes"] = senlin.kept["nodes"], nodes

    def end() -> None:
        senlin.status, senlin.kept["nodes"] = "SUCCEEDED", left

    senlin.ends = end


def test_a_removal_that_ends_while_it_is_looked_at_has_not_failed(
    senlin: FakeSenlin, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was listed before the action ended is listed again."""
    a_removal_that_ends_when_it_is_asked_for(senlin, cluster)
    record = senlin.records([(cluster.uuid, cluster.project_id)])[cluster.uuid]
    watch = Watch(
        cluster_id=cluster.uuid,
        project_id=cluster.project_id,
        trust_id=None,
        backend_id=None,
        method=Method.UPDATE_CLUSTER,
        key="k",
    )
    senlin.note(replace(record, call=job_key(watch.method, watch.key)))
    monkeypatch.setattr(poller, "Senlin", lambda _: senlin)
    # Whatever is done with the nodes' servers begins only when Senlin is done.
    servers = Progress(phase=Phase.DONE, message="asked Nova")
    monkeypatch.setattr(poller._Look, "_set_up", lambda *_: servers)
    cloud: Any = None
    assert poller.SenlinPoller().poll(cloud, [watch]) == {cluster.uuid: servers}


def test_groups_do_not_hold_what_has_just_gone(senlin: FakeSenlin, cluster: Cluster) -> None:
    """A call that comes when a removal has ended sees what is there then."""
    a_removal_that_ends_when_it_is_asked_for(senlin, cluster)
    after = Groups(senlin, cluster)
    assert [name_of(one) for one in after.nodes] == ["c-worker-1"]
    assert after.at_work() == []
