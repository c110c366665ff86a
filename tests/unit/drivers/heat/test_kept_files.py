"""What was kept with a cluster is what its stacks are made from, whatever is installed by now."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.heat import clients
from jeroboam.drivers.heat.coe_driver import CoeHeatDriver
from jeroboam.drivers.heat.stacks import stack_name
from jeroboam.drivers.heat.template_definition import ParameterMapping, TemplateDefinition
from jeroboam.drivers.k8s_fedora_coreos_v1.driver import FedoraCoreosDriver
from jeroboam.drivers.nodes.files import Files
from jeroboam.drivers.registry import DriverRegistry
from jeroboam.errors import DriverContractError, InvalidRequestError
from jeroboam.models import ClusterSpec
from jeroboam.settings import Settings
from tests.unit.drivers.heat.clusters import make_spec, secrets
from tests.unit.drivers.heat.fake_connection import FakeConnection
from tests.unit.drivers.heat.fake_heat import FakeCloud, FakeHeat, serving

DRIVER = FedoraCoreosDriver()
NEED_MORE_LIBRARIES = frozenset({"k8s_ansible_v1", "k8s_mistral_v1"})


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Return a folder with the driver's files, as a worker makes it."""
    for name, text in DRIVER.files().items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.fixture
def heat() -> FakeHeat:
    return FakeHeat()


@pytest.fixture
def cloud(heat: FakeHeat) -> Iterator[FakeCloud]:
    with serving(heat) as cloud:
        yield cloud


def declare_less(folder: Path, parameter: str) -> None:
    """Make a kept template one that does not know a parameter yet."""
    path = folder / "cluster.yaml"
    template = yaml.safe_load(path.read_text())
    del template["parameters"][parameter]
    template["description"] = "of former days"
    path.write_text(yaml.safe_dump(template))


def test_all_files_are_kept(kept: Path) -> None:
    """From what was kept alone comes the same template, with the same nested ones."""
    for definition in (DRIVER.definition, DRIVER.group_definition):
        assert definition.at(kept).load() == definition.load()


def test_kept_template_is_sent(kept: Path, heat: FakeHeat, cloud: FakeCloud) -> None:
    """A stack is made from the kept template, without parameters that only newer ones have."""
    declare_less(kept, "ready_timeout")
    context = DriverContext("cluster:operation:step", cloud, secrets, kept)
    DRIVER.create_cluster(context, make_spec(trust_id="p1"), 30)
    (sent,) = (body for method, _, body in heat.requests if method == "POST")
    assert sent["template"]["description"] == "of former days"
    assert "ready_timeout" not in sent["parameters"]
    heat.requests.clear()
    DRIVER.create_cluster(replace(context, folder=None), make_spec(trust_id="p1"), 30)
    (sent,) = (body for method, _, body in heat.requests if method == "POST")
    assert "ready_timeout" in sent["parameters"]


def test_nodes_are_set_up_from_what_was_kept(kept: Path, cloud: FakeCloud) -> None:
    """The scripts of nodes are the kept ones too."""
    context = DriverContext("cluster:operation:step", cloud, secrets, kept)
    spec = make_spec()
    before = DRIVER.setup(context, spec, spec.masters)
    assert before == DRIVER.setup(replace(context, folder=None), spec, spec.masters)
    script = kept / "bootstrap" / "cluster.sh"
    script.write_text(f"{script.read_text()}# of former days\n")
    assert DRIVER.setup(context, spec, spec.masters) != before


@pytest.mark.parametrize("change", [{"parameters": {"new": {"type": "string"}}}, {}])
def test_template_and_mappings_fit(tmp_path: Path, change: dict[str, object]) -> None:
    """At the start a parameter that nothing maps is found, and a mapping that leads nowhere."""
    template = {"heat_template_version": "2021-04-16", "resources": {}, **change}
    (tmp_path / "t.yaml").write_text(yaml.safe_dump(template))
    mappings = () if change else (ParameterMapping("typo", "cluster.name"),)
    definition = TemplateDefinition(Files((tmp_path,)), "t.yaml", mappings)
    with pytest.raises(DriverContractError, match="new" if change else "does not declare .*typo"):
        definition.check()


def test_shipped_drivers_pass_the_check_at_the_start(tmp_path: Path) -> None:
    """Nothing that is shipped on Heat is broken."""
    registry = DriverRegistry.load(Settings(drivers_directory=tmp_path))
    shipped = [one.driver for one in registry.entries() if isinstance(one.driver, CoeHeatDriver)]
    assert DRIVER.name in {driver.name for driver in shipped}
    packaged = {one.name for one in registry.broken() if one.source.package == "jeroboam"}
    assert packaged <= NEED_MORE_LIBRARIES


def test_labels_of_a_template_are_checked() -> None:
    """A label that no cluster could have is found when the template is made."""
    template = make_spec().template.model_copy(update={"labels": {"no_such_label": "1"}})
    with pytest.raises(InvalidRequestError, match="no_such_label"):
        DRIVER.validate_template(template)


def upgraded(context: DriverContext, heat: FakeHeat, spec: ClusterSpec) -> dict[str, Any]:
    """Return what an upgrade of the masters sends to Heat."""
    heat.requests.clear()
    DRIVER.upgrade_node_group(context, spec, spec.masters, None, 30)
    (sent,) = (body for method, _, body in heat.requests if method == "PATCH")
    return sent


def test_upgrade_moves_the_stack(
    kept: Path, heat: FakeHeat, cloud: FakeCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stack gets the template that it is upgraded to, with values for what is new in it only."""
    monkeypatch.setattr(clients, "connection", lambda *_: FakeConnection())
    spec = make_spec(trust_id="p1", labels={"etcd_volume_size": "10"})
    template, files = DRIVER.definition.load()
    heat.template, heat.files = template, files
    known = {**dict.fromkeys(template["parameters"], "former"), "master_slot": "a"}
    record = {"tags": ["jeroboam", spec.cluster.uuid, "former"], "parameters": known}
    heat.add("p1", "x", "CREATE_COMPLETE", stack_name=stack_name(spec.cluster), **record)
    context = DriverContext("cluster:operation:step", cloud, secrets, kept)
    same = upgraded(context, heat, spec)
    assert not {"template", "files"} & same.keys()

    del known["ready_timeout"]
    heat.template = {**template, "description": "of former days"}
    moved = upgraded(context, heat, spec)
    assert (moved["template"], moved["files"]) == (template, files)
    assert moved["parameters"] == {**same["parameters"], "ready_timeout": 29 * 60}

    heat.template, heat.files = template, {**files, "master.yaml": "of former days"}
    assert upgraded(context, heat, spec)["files"] == files
    installed = upgraded(replace(context, folder=None), heat, spec)
    assert not {"template", "files"} & installed.keys()
