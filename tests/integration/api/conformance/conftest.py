"""A service with one of everything that the facts are about, had back as it was after each."""

import dataclasses
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from jeroboam.certificates import issue_cluster_secrets, to_mapping
from jeroboam.drivers.registry import DriverRegistry
from jeroboam.models.quota import Quota
from jeroboam.settings import Settings
from jeroboam.store import Cipher, Store
from tests.integration.api.cloud import OTHER_PROJECT, PROJECT, RecordingOperations
from tests.integration.api.conftest import Service, serving
from tests.integration.api.drivers import registry
from tests.integration.isolation.world import QuietSigner, World


def a_request() -> str:
    """Return a certificate request."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, "admin"),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:masters"),
        ]
    )
    signed = x509.CertificateSigningRequestBuilder().subject_name(subject)
    pem = signed.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    return pem.decode()


class Things:
    """Makes what the facts ask for."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.known = {"project": PROJECT, "csr": a_request()}

    async def make(self) -> dict[str, str]:
        """Return everything by its name."""
        await self._templates()
        await self._clusters()
        for project, limit in ((PROJECT, 1000), (OTHER_PROJECT, 1)):
            await self.service.store.quotas.add(Quota(project_id=project, hard_limit=limit))
        await self.service.store.services.heartbeat("host", "magnum-conductor")
        return self.known

    async def _templates(self) -> None:
        for name in ("template", "newer", "unused", "twin", "twin"):
            self.known[name] = (await self.service.template(name=name))["uuid"]
        for name, flags in (("plain", {"tls_disabled": True}), ("hidden", {"hidden": True})):
            made = await self.service.template("admin-token", name=f"{name}-template", **flags)
            self.known[f"{name}-template"] = made["uuid"]
        self.known["hidden"] = self.known["hidden-template"]
        await self.service.template("stranger-token", name="full")

    async def _clusters(self) -> None:
        service, template = self.service, self.known["template"]
        mine = await service.built(template=template, name="mine", node_count=2, labels={"a": "1"})
        self.known |= {"cluster": mine, "group": await self._group(mine, "extra")}
        await service.finish(mine)
        await self._certify(mine)
        self.known["young"] = await service.cluster(template, name="young")
        self.known["failed"] = await service.cluster(template, name="failed")
        await service.fail(self.known["failed"])
        for _ in range(2):
            await service.built(template=template, name="twin")
        growing = await service.built(template=template, name="growing")
        self.known["growing"] = growing
        await self._group(growing, "slow")
        plain = self.known["plain-template"]
        self.known["plain"] = await service.built(template=plain, name="plain")
        await service.cluster("full", "stranger-token", name="a-stranger")

    async def _group(self, cluster: str, name: str) -> str:
        body = {"name": name, "node_count": 2, "min_node_count": 1, "max_node_count": 3}
        path = f"/v1/clusters/{cluster}/nodegroups"
        answer = await self.service.call("POST", path, json=body)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["uuid"])

    async def _certify(self, cluster: str) -> None:
        """Store secrets as a worker does; the API itself has no key for them."""
        url = self.service.settings.resolved_database_url
        worker = await Store.open(url, cipher=Cipher(bytes(32)))
        await worker.secrets.put_if_absent(cluster, to_mapping(issue_cluster_secrets("mine")))
        await worker.close()


@dataclasses.dataclass
class Stage:
    """The service, and the things by the names that facts have for them."""

    world: World
    things: dict[str, str]


@pytest.fixture(scope="session")
async def stage(database: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    directory = tmp_path_factory.mktemp("conformance")
    shutil.copy(database, directory / "jeroboam.sqlite")
    settings = Settings(state_directory=directory, cloud="testcloud")
    store = await Store.open(
        settings.resolved_database_url, hooks_cipher=Cipher(bytes(32)), quotas=settings.quotas
    )
    drivers: DriverRegistry = registry()
    async with serving(settings, store, RecordingOperations(store), drivers) as service:
        dependencies = service.app.state.dependencies
        service.app.state.dependencies = dataclasses.replace(dependencies, signer=QuietSigner())
        world = World(service)
        things = await Things(service).make()
        world.keep()
        yield Stage(world, things)
    await store.close()
