"""The Mistral driver on a real Mistral, Nova and Neutron, without the engine around it."""

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from devcloud import Devcloud, Fault
from jeroboam.drivers.base import Phase
from jeroboam.drivers.k8s_mistral_v1.driver import MistralDriver
from jeroboam.drivers.mistral import poller
from jeroboam.drivers.mistral.client import Mistral
from jeroboam.drivers.servers import tokens
from jeroboam.models import Method
from jeroboam.testing.driver_case import DriverCase, LivingCluster
from jeroboam.testing.driver_suite import DriverSuite
from tests.acceptance import server_clusters
from tests.acceptance.heat_clusters import Tenant, eventually
from tests.unit.drivers.heat.clusters import secrets

pytestmark = [
    pytest.mark.timeout(420),
    pytest.mark.filterwarnings("ignore:Support for InfluxDB"),
    pytest.mark.usefixtures("swept"),
]


@pytest.fixture(scope="class")
def shared(tenant: Tenant) -> Iterator[LivingCluster]:
    clusters, case = len(tenant.specs), server_clusters.case(tenant, MistralDriver())
    try:
        yield LivingCluster.build(case)
        assert case.remove().phase is Phase.GONE
    finally:
        tenant.sweep(clusters)


class TestContract(DriverSuite):
    @pytest.fixture
    def case(self, tenant: Tenant) -> DriverCase:
        return server_clusters.case(tenant, MistralDriver(), workers=1)

    @pytest.fixture
    def living(self, shared: LivingCluster) -> LivingCluster:
        """One cluster serves all tests of a living one; each leaves it as it was."""
        return shared

    def check_outputs(self, case: DriverCase) -> None:
        """Check also that the tenant does not see what Mistral was given in confidence."""
        super().check_outputs(case)
        mistral = Mistral(case.context.cloud)
        (execution,) = mistral.executions(case.spec.cluster.uuid)
        service, owner = (
            case.context.cloud.service_session(),
            case.context.cloud.tenant_session(case.spec.cluster.trust_id),
        )
        where = {"service_type": "workflowv2", "region_name": "RegionOne"}
        path = f"/executions/{execution.id}"
        shown = service.get(path, endpoint_filter=where).json()
        assert secrets().bootstrap_token in json.dumps(shown["input"])
        answer: Any = owner.get(path, endpoint_filter=where, raise_exc=False)
        assert answer.status_code == 404


@pytest.mark.usefixtures("nothing_left")
def test_node_fails(tenant: Tenant, cloud: Devcloud) -> None:
    """What a node reports of itself ends the cluster at once, in the node's words."""
    cloud.add_fault(Fault(target="node", action="fail", name="*-master-0", message="no containerd"))
    case = server_clusters.case(tenant, MistralDriver(), workers=0)
    try:
        case = case.create()
        progress = case.wait(Method.CREATE_CLUSTER)
        assert progress.phase is Phase.FAILED
        watch = case.watch(Method.CREATE_CLUSTER)
        told = case.driver.explain_failure(case.context, case.spec, watch, progress)
        assert "no containerd" in told.message
        (name,) = told.faults
        assert name.endswith("-master-0")
    finally:
        cloud.clear_faults()
        assert case.remove().phase is Phase.GONE


@pytest.mark.usefixtures("nothing_left")
def test_the_token_ends(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    """A workflow that takes longer than its token is begun again with a new one, and goes on."""
    with monkeypatch.context() as patch:
        patch.setattr(tokens, "seconds_of", lambda *_: 3)
        case = server_clusters.case(tenant, MistralDriver(), workers=0).create()
    try:
        session = tenant.access.tenant_session(tenant.trust_id)
        before = session.get_token()
        progress = case.wait(Method.CREATE_CLUSTER)
        assert (progress.phase, "token" in progress.message) == (Phase.INTERRUPTED, True)
        case.create()
        assert session.get_token() != before
        assert case.wait(Method.CREATE_CLUSTER).phase is Phase.DONE
        assert len(list(tenant.resources.compute.servers())) == 1
        assert case.count_objects() == 1
    finally:
        assert case.remove().phase is Phase.GONE


def forget_what_comes_next(cloud: Devcloud, state: str) -> None:
    """Leave Mistral's database as a death between the end of a task and the next one leaves it.

    Args:
        state: Of the last task: the next one is not there yet, or was not begun.
    """
    database = cloud.layout.state / "mistral.sqlite"
    with contextlib.closing(sqlite3.connect(database)) as found, found:
        for table in ("task_executions_v2", "action_executions_v2"):
            is_task = table.startswith("task")
            kind = "AND type = 'ACTION'" if is_task else ""
            open_ = "state IN ('IDLE', 'RUNNING', 'DELAYED')"
            found.execute(
                f"UPDATE {table} SET state = ? WHERE {open_} {kind}",
                (state if is_task else "SUCCESS",),
            )
        found.execute("DELETE FROM scheduled_jobs_v2")


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("state", ["SUCCESS", "IDLE"])
def test_mistral_forgets_what_comes_next(
    tenant: Tenant, cloud: Devcloud, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """An execution that nobody works at any more is begun again, and does not run for ever."""
    monkeypatch.setattr(poller, "IDLE_SECONDS", 5)
    case = server_clusters.case(tenant, MistralDriver(), workers=0).create()
    try:
        eventually(lambda: len(list(tenant.resources.compute.servers())) > 0)
        cloud.kill_service("mistral")
        forget_what_comes_next(cloud, state)
        cloud.start_service("mistral")
        assert case.wait(Method.CREATE_CLUSTER).phase is Phase.INTERRUPTED
        case.create()
        assert case.wait(Method.CREATE_CLUSTER).phase is Phase.DONE
        assert len(list(tenant.resources.compute.servers())) == 1
        assert case.count_objects() == 1
    finally:
        assert case.remove().phase is Phase.GONE


@pytest.mark.usefixtures("nothing_left")
def test_mistral_is_killed(tenant: Tenant, cloud: Devcloud) -> None:
    """A cluster whose workflow died with Mistral is gone on with, and nothing is made twice."""
    case = server_clusters.case(tenant, MistralDriver(), workers=0).create()
    try:
        eventually(lambda: len(list(tenant.resources.compute.servers())) > 0)
        cloud.kill_service("mistral")
        cloud.start_service("mistral")
        progress = case.wait(Method.CREATE_CLUSTER)
        if progress.phase is not Phase.DONE:
            assert progress.phase is Phase.INTERRUPTED, progress
            case.create()
            progress = case.wait(Method.CREATE_CLUSTER)
        assert progress.phase is Phase.DONE, progress
        assert len(list(tenant.resources.compute.servers())) == 1
        assert case.count_objects() == 1
    finally:
        assert case.remove().phase is Phase.GONE
