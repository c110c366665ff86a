"""The fake driver keeps the contract, and its faults do what their labels say."""

import multiprocessing
from collections import Counter
from collections.abc import Iterator
from multiprocessing.pool import Pool
from pathlib import Path

import pytest

from jeroboam.drivers.base import DriverContext, Phase
from jeroboam.drivers.fake.backend import FakeBackend
from jeroboam.drivers.fake.cluster import FakeCluster
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.fake.records import Event
from jeroboam.errors import (
    BackendFailedError,
    CloudUnavailableError,
    ConflictError,
    InvalidRequestError,
)
from jeroboam.models import ClusterSpec, HealthStatus, Method, Node, NodeGroup
from jeroboam.models.cluster import MASTER
from jeroboam.testing import patience
from jeroboam.testing.driver_case import Call, with_group, with_size
from jeroboam.testing.driver_suite import DriverCase, DriverSuite, LivingCluster
from jeroboam.testing.without_cloud import secrets
from tests.fakes import NoCloud, no_secrets
from tests.unit.specs import make_spec

FAST = {
    f"fake_{call}_seconds": "0.05"
    for call in ("create", "delete", "update", "upgrade", "reboot", "rebuild", "group")
}


def make_case(directory: Path, **labels: str) -> DriverCase:
    spec = make_spec(masters=3, workers=2, labels={**FAST, **labels})
    cluster = spec.cluster

    def known() -> FakeCluster:
        return FakeBackend(directory).read(cluster.uuid)

    def count(event: Event, node: Node) -> int:
        return sum(one.event is event and one.subject == node.name for one in known().journal)

    def leave_behind(_: ClusterSpec) -> str:
        with FakeBackend(directory)._changing(cluster.uuid) as changed:
            changed.leftovers.append("volume lost (1234)")
        return "volume lost"

    return DriverCase(
        driver=FakeDriver(directory),
        spec=spec,
        context=DriverContext(f"{cluster.uuid}:create:step", NoCloud(), secrets),
        count_objects=lambda: len(list(directory.glob("*.json"))),
        timeout_seconds=5,
        poll_seconds=0.02,
        bad_labels=(
            ("fake_create_seconds", "soon", "valid number"),
            ("fake_fail", "everything", "create"),
            ("fake_fail_share", "2", "less than or equal to 1"),
            ("fake_version", "newest", "pattern"),
            ("fake_typo", "1", "fake_create_seconds"),
        ),
        node_group=NodeGroup(
            name="large", cluster_id=cluster.uuid, project_id=cluster.project_id, node_count=2
        ),
        upgraded=lambda spec: with_version(spec, "v1.32.1"),
        count_reboots=lambda node: count(Event.REBOOTED, node),
        count_rebuilds=lambda node: count(Event.REBUILT, node),
        leave_behind=leave_behind,
    )


def with_version(spec: ClusterSpec, version: str) -> ClusterSpec:
    labels = {**spec.cluster.labels, "fake_version": version}
    return spec.model_copy(update={"cluster": spec.cluster.model_copy(update={"labels": labels})})


class TestFakeDriver(DriverSuite):
    @pytest.fixture
    def case(self, tmp_path: Path) -> DriverCase:
        return make_case(tmp_path)


@pytest.fixture
def living(tmp_path: Path) -> LivingCluster:
    return LivingCluster.build(make_case(tmp_path))


def backend(living: LivingCluster) -> FakeBackend:
    return living.case.driver._backend  # type: ignore[attr-defined,no-any-return]


def journal(living: LivingCluster) -> Counter[Event]:
    """Count what the backend has written down."""
    return Counter(entry.event for entry in backend(living).read(living.spec.cluster.uuid).journal)


def faulty(living: LivingCluster, **labels: str) -> ClusterSpec:
    """Return the cluster's record with more labels."""
    cluster = living.spec.cluster
    changed = cluster.model_copy(update={"labels": {**cluster.labels, **labels}})
    living.spec = living.spec.model_copy(update={"cluster": changed})
    return living.spec


def reboot(living: LivingCluster) -> Call:
    group = living.workers
    return living.call(Method.REBOOT_NODES, group=group.uuid, nodes=group.nodes)


def grow(living: LivingCluster, by: int) -> Call:
    group = living.workers
    target = with_size(living.spec, group, group.node_count + by)
    return living.call(Method.UPDATE_CLUSTER, target, group=group.uuid)


class TestFailures:
    """The backend gives up."""

    def test_create(self, tmp_path: Path) -> None:
        """A fault of the backend carries its reason and the failed node."""
        case = make_case(tmp_path, fake_fail="create", fake_fail_reason="No valid host").create()
        progress = case.wait(Method.CREATE_CLUSTER)
        assert (progress.phase, progress.message) == (Phase.FAILED, "No valid host")
        assert progress.faults == {"demo-default-master-0": "No valid host"}

    def test_half_of_it_is_done(self, living: LivingCluster) -> None:
        """What was done before the failure stays done, as in a real cloud."""
        faulty(living, fake_fail="update", fake_fail_share="0.5")
        call = grow(living, 4)
        living.submit(call)
        assert living.finish(call).phase is Phase.FAILED
        living.refresh()
        assert len(living.workers.nodes) == 4

    def test_a_failed_call_goes_on_when_it_is_repeated(self, living: LivingCluster) -> None:
        """After as many failures as were asked for, the same call ends what it had begun."""
        faulty(living, fake_fail="reboot", fake_fail_share="0.5", fake_fail_times="1")
        call = reboot(living)
        living.submit(call)
        assert living.finish(call).phase is Phase.FAILED
        assert journal(living)[Event.REBOOTED] == 1
        living.do(call)
        assert journal(living)[Event.REBOOTED] == 2
        assert journal(living)[Event.RESUMED] == 1

    def test_at_a_node(self, living: LivingCluster) -> None:
        """A failure at a named node leaves those before it done, and it is blamed."""
        second = living.workers.nodes[1].name
        faulty(living, fake_fail="reboot", fake_fail_node=second)
        call = reboot(living)
        living.submit(call)
        assert living.finish(call).faults == {second: "Injected fault."}
        assert journal(living)[Event.REBOOTED] == 1

    def test_at_a_node_that_is_not_concerned(self, living: LivingCluster) -> None:
        """Work on other nodes than the named one ends well."""
        faulty(living, fake_fail="reboot", fake_fail_node="demo-default-master-0")
        living.do(reboot(living))

    def test_in_a_batch(self, living: LivingCluster) -> None:
        """Only the batch that was named fails; a repeated call is no batch of its own."""
        faulty(living, fake_fail="reboot", fake_fail_batch="2")
        group, phases = living.workers, []
        for node in group.nodes:
            call = living.call(Method.REBOOT_NODES, group=group.uuid, nodes=(node,))
            call = Call(**{**vars(call), "key": f"cluster:operation:{node.name}"})
            living.submit(call)
            living.submit(call)
            phases.append(living.finish(call).phase)
        assert phases == [Phase.DONE, Phase.FAILED]

    @pytest.mark.parametrize("call", ["read_outputs", "check_health"])
    def test_of_what_only_reads(self, living: LivingCluster, call: str) -> None:
        """A call that begins no work fails at once."""
        spec = faulty(living, fake_fail=call, fake_fail_reason="Etcd has no leader")
        driver = living.case.driver
        with pytest.raises(BackendFailedError, match="Etcd has no leader"):
            getattr(driver, "read_outputs" if call == "read_outputs" else "check_health")(
                living.case.context, spec
            )


class TestTroubleOfCalls:
    """Calls that do not go as they should."""

    def test_silence(self, tmp_path: Path) -> None:
        """The first calls of create fail as asked for, the next one works."""
        case = make_case(tmp_path, fake_unavailable_calls="2")
        for _ in range(2):
            with pytest.raises(CloudUnavailableError):
                case.driver.create_cluster(case.context, case.spec, 1)
        assert case.create().wait(Method.CREATE_CLUSTER).phase is Phase.DONE

    def test_silence_does_not_stop_the_suite(self, tmp_path: Path) -> None:
        """What the suite asks is asked again when it may succeed later, as the engine does."""
        case = make_case(tmp_path, fake_unavailable_calls="2").create()
        assert case.wait(Method.CREATE_CLUSTER).phase is Phase.DONE

    def test_silence_of_another_call(self, living: LivingCluster) -> None:
        """The call that is not answered can be chosen; nothing has begun then."""
        faulty(living, fake_unavailable="reboot", fake_unavailable_calls="1")
        call = reboot(living)
        with pytest.raises(CloudUnavailableError):
            call.make(living.case)
        assert living.case.wait_for(call.watch()).phase is Phase.INTERRUPTED
        living.do(call)
        assert journal(living)[Event.REBOOTED] == 2

    def test_interruption(self, tmp_path: Path) -> None:
        """A backend that broke off goes on when it is asked again, with the same object."""
        case = make_case(tmp_path, fake_interruptions="1").create()
        assert case.wait(Method.CREATE_CLUSTER).phase is Phase.INTERRUPTED
        assert case.create().wait(Method.CREATE_CLUSTER).phase is Phase.DONE
        assert case.count_objects() == 1
        known = FakeBackend(tmp_path).read(case.spec.cluster.uuid)
        assert len(list(known.nodes())) == 5
        assert sum(entry.event is Event.CREATED for entry in known.journal) == 5

    def test_crash(self, living: LivingCluster) -> None:
        """A call that crashes has begun its work all the same, and the next one repeats it."""
        faulty(living, fake_crash="rebuild")
        group = living.workers
        call = living.call(Method.REBUILD_NODES, group=group.uuid, nodes=group.nodes)
        with pytest.raises(RuntimeError, match="crashes"):
            living.submit(call)
        living.do(call)
        assert journal(living)[Event.REBUILT] == 2

    def test_lie(self, living: LivingCluster) -> None:
        """What was said to have begun never ends, until it is asked for again."""
        faulty(living, fake_lie="update")
        call = grow(living, 1)
        living.submit(call)
        poller, watch = living.case.driver.poller(), call.watch()
        cluster = living.spec.cluster.uuid
        assert poller.poll(NoCloud(), (watch,))[cluster].phase is Phase.RUNNING
        assert len(list(backend(living).read(cluster).nodes())) == 5
        living.do(call)
        assert len(living.workers.nodes) == 3

    def test_hang(self, living: LivingCluster) -> None:
        """A call that hangs comes through in the end, and holds no other up."""
        faulty(living, fake_hang="reboot", fake_hang_seconds="0.1")
        living.do(reboot(living))
        assert journal(living)[Event.HUNG] == 1

    def test_labels_of_a_living_cluster(self, living: LivingCluster, tmp_path: Path) -> None:
        """A file of labels holds instead of the cluster's own, until it is removed."""
        faults = tmp_path / "faults" / f"{living.spec.cluster.uuid}.json"
        faults.parent.mkdir()
        faults.write_text('{"fake_fail": "reboot"}')
        call = reboot(living)
        living.submit(call)
        assert living.finish(call).phase is Phase.FAILED
        faults.unlink()
        living.do(call)

    def test_cut_off(
        self, living: LivingCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """While the file that says so is there nothing answers; then all goes on."""
        monkeypatch.setattr(patience, "ATTEMPTS", 2)
        call = reboot(living)
        living.submit(call)
        (tmp_path / "unreachable").touch()
        for ask in (lambda: living.submit(call), lambda: living.finish(call), living.outputs):
            with pytest.raises(CloudUnavailableError, match="cut off"):
                ask()
        (tmp_path / "unreachable").unlink()
        assert living.finish(call).phase is Phase.DONE


class TestDelete:
    """The end of a cluster."""

    def test_overtakes_all(self, living: LivingCluster) -> None:
        """A delete ends what is at work, and nothing begins any more."""
        call = reboot(living)
        faulty(living, fake_delete_seconds="0.5", fake_reboot_seconds="5")
        living.submit(call)
        case = living.case
        case.driver.delete_cluster(case.context, living.spec)
        with pytest.raises(ConflictError, match="being deleted"):
            grow(living, 1).make(case)
        assert case.wait(Method.DELETE_CLUSTER).phase is Phase.GONE
        with pytest.raises(BackendFailedError, match="does not exist"):
            grow(living, 1).make(case)

    def test_fails_as_often_as_asked(self, living: LivingCluster) -> None:
        """A failed delete that is submitted again goes on."""
        spec = faulty(living, fake_fail="delete", fake_fail_times="1", fake_fail_share="0.5")
        case = living.case
        case.driver.delete_cluster(case.context, spec)
        assert case.wait(Method.DELETE_CLUSTER).phase is Phase.FAILED
        case.driver.delete_cluster(case.context, spec)
        assert case.wait(Method.DELETE_CLUSTER).phase is Phase.GONE

    def test_leaves_what_a_label_says(self, living: LivingCluster) -> None:
        """Volumes stay behind when the label asks for them; of a living cluster all is named."""
        case, spec = living.case, faulty(living, fake_leftovers="2")
        assert len(case.driver.find_leftovers(case.context, spec)) == 7
        case.driver.delete_cluster(case.context, spec)
        case.wait(Method.DELETE_CLUSTER)
        found = case.driver.find_leftovers(case.context, spec)
        assert [one.rpartition(" ")[0] for one in found] == [
            "volume fake-volume-0",
            "volume fake-volume-1",
        ]

    def test_is_remembered(self, living: LivingCluster) -> None:
        """What ever happened to a cluster can be read when it is gone, and when it is back."""
        case = living.case
        case.driver.delete_cluster(case.context, living.spec)
        case.wait(Method.DELETE_CLUSTER)
        assert (journal(living)[Event.CREATED], journal(living)[Event.REMOVED]) == (5, 5)
        case.driver.create_cluster(case.context, living.spec, 1)
        assert case.wait(Method.CREATE_CLUSTER).phase is Phase.DONE
        assert journal(living)[Event.CREATED] == 10


class TestHealth:
    """What a check finds."""

    def test_by_node(self, living: LivingCluster) -> None:
        """Each node is reported, and one that is not active makes the cluster unhealthy."""
        case, uuid = living.case, living.spec.cluster.uuid
        driver = FakeDriver(backend(living)._directory)
        assert driver.check_health(case.context, living.spec).status is HealthStatus.HEALTHY
        with backend(living)._changing(uuid) as changed:
            next(changed.nodes()).status = "ERROR"
        found = driver.check_health(case.context, living.spec)
        assert found.status is HealthStatus.UNHEALTHY
        assert found.reasons["demo-default-master-0"] == "ERROR"

    def test_as_asked(self, living: LivingCluster) -> None:
        """A label decides, whatever the nodes say."""
        spec = faulty(living, fake_health="UNKNOWN")
        driver = FakeDriver(backend(living)._directory)
        assert driver.check_health(living.case.context, spec).status is HealthStatus.UNKNOWN


class TestChecks:
    """What is refused before anything is touched."""

    @pytest.mark.parametrize(
        ("version", "said"),
        [("v1.30.9", "never go down"), ("v1.33.0", "and v1.32"), ("v2.0.0", "never skip")],
    )
    def test_skew(self, living: LivingCluster, version: str, said: str) -> None:
        """An upgrade goes neither down nor over two minor versions."""
        driver = FakeDriver(backend(living)._directory)
        with pytest.raises(InvalidRequestError, match=said):
            driver.check_upgrade(living.spec, with_version(living.spec, version))

    @pytest.mark.parametrize("version", ["v1.31.0", "v1.31.7", "1.32", "v1.32.4"])
    def test_possible_upgrades(self, living: LivingCluster, version: str) -> None:
        """The same version, a later patch and the next minor version are possible."""
        driver = FakeDriver(backend(living)._directory)
        driver.check_upgrade(living.spec, with_version(living.spec, version))

    def test_workers_not_newer_than_control_plane(self, living: LivingCluster) -> None:
        """A group of workers may not get ahead of the control plane."""
        workers = living.workers.model_copy(update={"labels": {"fake_version": "v1.32.0"}})
        driver = FakeDriver(backend(living)._directory)
        with pytest.raises(InvalidRequestError, match="upgrade the cluster first"):
            driver.check_upgrade(living.spec, with_group(living.spec, workers))

    def test_even_control_plane(self, living: LivingCluster) -> None:
        """A control plane without a majority is refused, with what would be right."""
        driver, masters = living.case.driver, living.spec.masters
        driver.check_resize(living.spec, masters, 5)
        with pytest.raises(InvalidRequestError, match="choose 5"):
            driver.check_resize(living.spec, masters, 4)

    def test_second_control_plane(self, living: LivingCluster) -> None:
        """A node group cannot be a control plane, and its labels are checked."""
        driver = FakeDriver(backend(living)._directory)
        group = living.case.node_group
        assert group
        with pytest.raises(InvalidRequestError, match="one control plane"):
            driver.check_node_group(living.spec, group.model_copy(update={"role": MASTER}))
        wrong = group.model_copy(update={"labels": {"fake_typo": "1"}})
        with pytest.raises(InvalidRequestError, match="fake_typo"):
            driver.check_node_group(living.spec, wrong)


def test_named_nodes_are_replaced_when_the_size_stays(living: LivingCluster) -> None:
    """A named node goes although the size stays; another comes, under a name of its own."""
    group = living.workers
    first = group.nodes[0]
    living.do(living.call(Method.UPDATE_CLUSTER, group=group.uuid, nodes_to_remove=(first,)))
    assert [node.name for node in living.workers.nodes] == [
        "demo-default-worker-1",
        "demo-default-worker-2",
    ]


def test_a_late_call_counts_as_new(living: LivingCluster) -> None:
    """A call that comes after another one about the same group is obeyed, as Heat would."""
    first, second = grow(living, 2), grow(living, 1)
    for call in (first, second, first):
        living.do(call)
    assert len(living.workers.nodes) == 4
    assert journal(living)[Event.CREATED] == 5 + 2 + 1


@pytest.fixture
def crowd() -> Iterator[Pool]:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        yield pool


def reboot_in_a_process(directory: Path, spec: ClusterSpec, key: str) -> None:
    driver = FakeDriver(directory)
    context = DriverContext(key, NoCloud(), no_secrets)
    driver.reboot_nodes(context, spec, spec.workers[0].nodes, hard=True)


def test_several_processes(living: LivingCluster, tmp_path: Path, crowd: Pool) -> None:
    """Calls from several processes at once lose nothing, and one key does its work once."""
    keys = [f"c:o:{number % 5}" for number in range(40)]
    crowd.starmap(reboot_in_a_process, [(tmp_path, living.spec, key) for key in keys])
    for key in set(keys):
        call = Call(Method.REBOOT_NODES, living.spec, key, nodes=living.workers.nodes)
        assert living.finish(call).phase is Phase.DONE
    counted = journal(living)
    assert counted[Event.REBOOTED] == 5 * 2
    assert (counted[Event.BEGUN], counted[Event.REPEATED]) == (1 + 5, 35)
