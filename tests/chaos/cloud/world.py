"""The world of a devcloud: real services, which are killed, cut off and asked what there is."""

import asyncio
import os
import random
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from devcloud import Devcloud
from devcloud import Fault as Rule
from devcloud.credentials import TRUSTEE_DOMAIN
from jeroboam.drivers.k8s_fedora_coreos_v1.driver import FedoraCoreosDriver
from jeroboam.drivers.nodes.names import short_id
from jeroboam.models import Cluster, ClusterSpec, OperationKind, Parameters, Plan, utc_now
from tests.chaos.cloud import faults, oracle, wishes
from tests.chaos.cloud.components import Network, Service
from tests.chaos.cloud.survey import Survey
from tests.chaos.cloud.surveyor import Surveyor
from tests.chaos.faults import Fault, Outcome
from tests.chaos.oracle import Case
from tests.chaos.rules import Act
from tests.chaos.tenant import Tenant
from tests.chaos.worker import REAL_CLOUD
from tests.chaos.world import Component, Opened, Pause
from tests.conftest import CHECKOUT

USER = "demo"
MINORS = range(30, 38)
TIMEOUT_MINUTES = 10
CUT_SECONDS = (2.0, 30.0)
SERVICE_SECONDS = (0.5, 10.0)
PROXY_OFFSET = 50
PUBLIC = 0.3
"""How many clusters have floating IPs; the machine has more time for the others."""


class Token(httpx.Auth):
    """A real user of the real Keystone; what is done by force an administrator does."""

    def __init__(self, surveyor: Surveyor) -> None:
        self._surveyor = surveyor

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response]:
        """Add a token that is still good."""
        forced = request.url.params.get("force") == "true"
        request.headers["X-Auth-Token"] = self._surveyor.token(admin=forced)
        yield request


@dataclass
class CloudWorld:
    """A devcloud in which nothing but the harness's clusters lives."""

    cloud: Devcloud
    network: Network
    crashes: Sequence[Act] = faults.COMPONENTS
    end_seconds: float = 900.0
    _rules: dict[str, Rule] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.driver = FedoraCoreosDriver()
        self.surveyor = Surveyor(self.cloud, USER)
        self.auth = Token(self.surveyor)
        self._nova = Service(self.cloud, "nova")
        self.components: Mapping[str, Component] = {
            Act.BACKEND: self.network,
            Act.HEAT: Service(self.cloud, "heat"),
            Act.NOVA: self._nova,
        }
        self.pauses: Mapping[str, Pause] = {
            Act.BACKEND: CUT_SECONDS,
            Act.HEAT: SERVICE_SECONDS,
            Act.NOVA: SERVICE_SECONDS,
        }
        self.settings: Mapping[str, str] = {
            REAL_CLOUD: "real",
            "OS_CLIENT_CONFIG_FILE": str(self.cloud.clouds_yaml),
            "JEROBOAM_TRUSTEE_DOMAIN": TRUSTEE_DOMAIN,
            "http_proxy": self.network.url,
            "no_proxy": "",
            "JEROBOAM_CLOUD_TIMEOUT_SECONDS": "30",
            "JEROBOAM_POLL_INTERVAL_SECONDS": "1",
            # No machine of this cloud has an API that could be asked to empty nodes.
            "JEROBOAM_DRAIN_PATIENCE_SECONDS": "0",
        }
        self._at_first = self.surveyor.inventory()

    async def templates(self, tenant: Tenant) -> list[str]:
        """Make templates; return their uuids in the order of their versions."""
        made = []
        for minor in MINORS:
            # A master that is replaced needs a volume of its own for what etcd keeps.
            labels = {"kube_tag": f"v1.{minor}.0", "etcd_volume_size": "1"}
            fields = {
                "image_id": "fedora-coreos",
                "flavor_id": "m1.small",
                "master_flavor_id": "m1.small",
                "external_network_id": "public",
                "keypair_id": "demo",
            }
            made.append(await tenant.template(f"v{minor}", labels, **fields))
        return made

    def cluster(self, chance: random.Random) -> Mapping[str, Any]:
        """Return what is asked for a new cluster."""
        return {
            "master_count": 1,
            "node_count": chance.choice((1, 1, 2)),
            "create_timeout": TIMEOUT_MINUTES,
            "floating_ip_enabled": chance.random() < PUBLIC,
        }

    def wish(
        self, chance: random.Random, spec: ClusterSpec, templates: Sequence[str]
    ) -> tuple[OperationKind, Parameters]:
        """Return an operation that the cluster can take."""
        return wishes.wish(chance, spec, templates)

    def draw(self, chance: random.Random, plan: Plan, crashes: Sequence[Act]) -> Fault:
        """Return a fault that fits an operation."""
        return faults.draw(chance, plan, crashes)

    def set_fault(self, cluster: Cluster, labels: Mapping[str, str]) -> None:
        """Add a rule."""
        self._rules[cluster.uuid] = self.cloud.add_fault(faults.rule(labels, short_id(cluster)))

    def clear_fault(self, cluster: Cluster) -> None:
        """Remove the rule."""
        rule = self._rules.pop(cluster.uuid, None)
        if rule:
            self.cloud.faults.clear(rule.id)

    async def known(self, cluster: Cluster) -> Survey:
        """Ask all services."""
        return await asyncio.to_thread(self.surveyor.survey, cluster)

    def judge(self, case: Case[Any]) -> Iterator[str]:
        """Compare the record with the services; all clusters suffer when Nova dies."""
        operation = case.operation
        if case.outcome in {Outcome.WELL, Outcome.BADLY} and self._nova.was_away(
            operation.created_at, operation.ended_at or utc_now()
        ):
            case = replace(case, outcome=Outcome.STOPPED)
        return oracle.judge(case)

    async def unaccounted(self, left: Sequence[Cluster]) -> list[str]:
        """Return what was not in the project at first, but for what carries a cluster's mark."""
        found = await asyncio.to_thread(self.surveyor.inventory)
        spared = [short_id(one) for one in left] + [one.trust_id or "" for one in left]
        return [
            f"orphaned: {words} ({ident})"
            for ident, words in found.items()
            if ident not in self._at_first
            and not any(mark and mark in f"{ident} {words}" for mark in spared)
        ]


@contextmanager
def opened(directory: Path, *, port_base: int, seed: str) -> Iterator[CloudWorld]:
    """Yield the world of a new devcloud, which ends with the block.

    Args:
        port_base: Of the devcloud, which leaves some of its hundred ports free.
    """
    cloud = Devcloud(
        directory / "devcloud",
        port_base=port_base,
        services="full",
        venv=Path(os.environ.get("DEVCLOUD_VENV", CHECKOUT / ".devcloud" / "venv")),
    )
    network = Network(port_base + PROXY_OFFSET, random.Random(seed))
    with ExitStack() as stack:
        stack.callback(cloud.stop)
        cloud.start()
        stack.callback(network.stop)
        network.start()
        yield CloudWorld(cloud, network)


def opener(port_base: int, seed: str) -> Opened:
    """Return how a run enters the world."""
    return partial(opened, port_base=port_base, seed=seed)
