"""The steps of a running operation come onto the list by the API, as any client's would."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from temporalio.client import Client

from quickstart.board import Board, State
from quickstart.errors import QuickstartError
from quickstart.layout import Layout
from quickstart.progress import OperationProgress
from quickstart.tenant import Tenant
from tests.conftest import free_port
from tests.integration.cli.product import Product, running_product

PEOPLE = {"demo": "member-token", "demo-admin": "admin-token"}


@dataclass(frozen=True, slots=True)
class ElsewhereLayout(Layout):
    """A layout whose clouds.yaml leads to the API under test."""

    where: Path = Path()

    @property
    def clouds_yaml(self) -> Path:
        return self.where


@pytest.fixture(scope="module")
async def product(
    temporal_client: Client, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Product]:
    async with running_product(temporal_client, tmp_path_factory.mktemp("product")) as running:
        yield running


@pytest.fixture
def tenant(product: Product, tmp_path: Path) -> Tenant:
    return tenant_of(product.api.url, tmp_path)


def tenant_of(url: str, directory: Path) -> Tenant:
    layout = ElsewhereLayout(where=directory / "clouds.yaml")
    clouds = {
        name: {"auth_type": "admin_token", "auth": {"endpoint": url, "token": token}}
        for name, token in PEOPLE.items()
    }
    layout.where.write_text(yaml.safe_dump({"clouds": clouds}))
    return Tenant(layout)


async def test_nobody_answers(tmp_path: Path) -> None:
    """A service that does not answer is a line for the user; what is only for show is left out."""
    tenant = tenant_of(f"http://127.0.0.1:{free_port()}", tmp_path)
    assert await tenant.resources("stack") == (0, 0)
    with pytest.raises(QuickstartError, match="did not answer"):
        await tenant.cluster("demo-1")


async def test_steps_come_onto_the_list(product: Product, tenant: Tenant) -> None:
    """Each step of the plan is a line below the cluster's, with its state and its time."""
    spec = await product.cluster("on-the-list")
    board = Board()
    cluster = await tenant.cluster(spec.cluster.name)
    await OperationProgress(board, tenant).show(cluster)
    assert len(board.steps) > 3
    assert {step.state for step in board.steps} == {State.DONE}
    assert all(step.level == 1 and step.elapsed is not None for step in board.steps)
    assert "Wait for the backend" in [step.title for step in board.steps]


async def test_the_link_to_the_run(product: Product, tenant: Tenant) -> None:
    """The link to the Temporal UI comes from the API, which tells it to the operator."""
    spec = await product.cluster("with-a-run")
    operation = await tenant.latest_operation(spec.cluster.uuid)
    assert operation
    link = await tenant.run_link(operation["uuid"])
    assert link
    assert f"/workflows/cluster%2F{spec.cluster.uuid}/" in link
