"""A cluster on a real Heat stays with the files that built it, until it is upgraded."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from jeroboam.drivers.base import DriverContext, Phase
from jeroboam.drivers.heat.clients import tenant_client
from jeroboam.models import Method
from tests.acceptance.heat_clusters import Living, Tenant

pytestmark = [
    pytest.mark.timeout(420),
    pytest.mark.filterwarnings("ignore:Support for InfluxDB"),
    pytest.mark.usefixtures("swept"),
]


@dataclass
class Kept(Living):
    """A cluster with its files in a folder, as a worker gives them to the driver."""

    folder: Path | None = None

    def context(self, key: str) -> DriverContext:
        return replace(super().context(key), folder=self.folder)

    def put(self, folder: Path) -> Path:
        """Write the driver's files into a folder."""
        for name, text in self.driver.files().items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return folder

    def template(self) -> Any:
        """Return the template of the cluster's stack, asked of Heat."""
        heat = tenant_client(self.tenant.access, self.tenant.trust_id)
        return heat.stacks.template(self.spec.cluster.stack_id)

    def worker_ids(self) -> set[str]:
        self.record()
        return {node.id for node in self.workers.nodes}

    def upgrade(self) -> None:
        """Move the workers to what the folder holds."""
        key = self.key()
        context = self.context(key)
        self.driver.upgrade_node_group(context, self.spec, self.workers, 1, 10)
        watch = self.watch(Method.UPGRADE_NODE_GROUP, key, self.workers)
        progress = self.wait(watch)
        assert progress.phase is Phase.DONE, self.explained(watch, progress)


def make_newer(folder: Path) -> None:
    """Write the next version of the files: a parameter and an output more, and another script."""
    path = folder / "cluster.yaml"
    template = yaml.safe_load(path.read_text())
    template["heat_template_version"] = str(template["heat_template_version"])
    template["parameters"]["motto"] = {"type": "string", "default": "newer"}
    template["outputs"]["motto"] = {"value": {"get_param": "motto"}}
    path.write_text(yaml.safe_dump(template))
    script = folder / "bootstrap" / "cluster.sh"
    script.write_text(f"{script.read_text()}# newer\n")


def test_upgrade_moves_a_cluster_to_newer_files(tenant: Tenant, tmp_path: Path) -> None:
    """A resize leaves the stack its template; an upgrade gives it the next one; and back."""
    living = Kept(tenant, tenant.spec(workers=1))
    old, new = living.put(tmp_path / "old"), living.put(tmp_path / "new")
    make_newer(new)
    living.folder = old
    try:
        living.create()
        first, template = living.worker_ids(), living.template()
        watch = living.resize(living.workers, 2)
        assert living.wait(watch).phase is Phase.DONE
        living.spec = living.sized(living.workers, 2)
        grown = living.worker_ids()
        assert (first < grown, living.template()) == (True, template)

        living.folder = new
        living.upgrade()
        moved = living.worker_ids()
        assert living.template()["outputs"]["motto"] == {"value": {"get_param": "motto"}}
        assert not moved & grown

        living.folder = old
        living.upgrade()
        assert living.template() == template
        assert not living.worker_ids() & moved
    finally:
        living.remove()
