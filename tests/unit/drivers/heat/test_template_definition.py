"""Mappings carry facts to parameters and outputs to fields, and nothing else decides."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.heat.template_definition import (
    AddressMapping,
    OutputMapping,
    ParameterMapping,
    TemplateDefinition,
    basic_facts,
    lookup,
)
from jeroboam.drivers.nodes.files import Files
from jeroboam.errors import DriverContractError, InvalidRequestError
from tests.unit.drivers.heat.clusters import make_spec

VALUES = st.one_of(st.text(min_size=1), st.integers(), st.booleans(), st.lists(st.text()))
NO_FILES = Files(())
NAMES = st.from_regex(r"[a-z_]{1,12}", fullmatch=True)


@given(NAMES, NAMES, VALUES)
def test_set_fact_reaches_its_parameter(parameter: str, name: str, value: Any) -> None:
    """A fact that is set is the parameter's value, whatever the default."""
    mapping = ParameterMapping(parameter, f"root.{name}", default="other")
    assert mapping.value({"root": {name: value}}) == value


@given(st.sampled_from([None, ""]), VALUES)
def test_default_fills_in(unset: Any, default: Any) -> None:
    """An unset fact gives the default; the converter is for given values only."""

    def fail(_: Any) -> Any:
        raise AssertionError

    mapping = ParameterMapping("p", "root.x", default=default, convert=fail)
    assert mapping.value({"root": {"x": unset}}) == default


@given(st.dictionaries(NAMES, st.one_of(st.none(), VALUES), max_size=8))
def test_only_known_values_are_sent(facts: dict[str, Any]) -> None:
    """Parameters without a value are left to the template's own defaults."""
    mappings = tuple(ParameterMapping(name, f"root.{name}") for name in facts)
    values = TemplateDefinition(NO_FILES, "t.yaml", mappings).parameter_values({"root": facts})
    assert values == {name: value for name, value in facts.items() if value is not None}


def test_zero_and_false_are_values() -> None:
    """0 and false are settings of the user, not gaps."""
    mapping = ParameterMapping("p", "root.x", default=5, required=True)
    assert mapping.value({"root": {"x": 0}}) == 0
    assert mapping.value({"root": {"x": False}}) is False


def test_converter() -> None:
    """A converter gives Heat's form of a value."""
    mapping = ParameterMapping("p", "root.x", convert=list)
    assert mapping.value({"root": {"x": ("a", "b")}}) == ["a", "b"]


def test_missing_required_fact() -> None:
    """A missing required value is refused with its name and the remedy."""
    mapping = ParameterMapping("p", "template.flavor_id", required=True, hint="Choose a flavor.")
    with pytest.raises(InvalidRequestError, match=r"template\.flavor_id .*Choose a flavor"):
        mapping.value(basic_facts(make_spec()))


def test_unknown_root_is_a_defect() -> None:
    """A mapping that names nothing known breaks the contract."""
    with pytest.raises(DriverContractError, match="nothing"):
        lookup({}, "nothing.at.all")


def test_facts_of_a_cluster() -> None:
    """Facts reach into models and mappings."""
    spec = make_spec(masters=3, name="x")
    facts = basic_facts(spec) | {"labels": {"kube_tag": "v1.2.3"}}
    assert lookup(facts, "cluster.name") == "x"
    assert lookup(facts, "masters.node_count") == 3
    assert lookup(facts, "labels.kube_tag") == "v1.2.3"
    assert lookup(facts, "labels.unset.deeper") is None


def test_outputs() -> None:
    """Outputs become fields, with public addresses before private ones."""
    spec = make_spec(masters=1, workers=2)
    definition = TemplateDefinition(
        NO_FILES,
        "t.yaml",
        (),
        (OutputMapping("api", "api_address", convert=str.upper), OutputMapping("v", "coe_version")),
        (AddressMapping("master", ("public", "private")), AddressMapping("worker", ("nodes",))),
    )
    raw = {"api": "https://a", "public": ["", None], "private": ["10.0.0.1"], "nodes": ["n1", "n2"]}
    outputs = definition.read_outputs(spec, raw)
    assert outputs.api_address == "HTTPS://A"
    assert outputs.coe_version is None
    assert outputs.node_addresses == {
        spec.masters.uuid: ("10.0.0.1",),
        spec.workers[0].uuid: ("n1", "n2"),
    }


def test_names_of_nested_templates_are_portable(tmp_path: Path) -> None:
    """What is sent to Heat does not depend on where Jeroboam is installed."""
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        template = {
            "heat_template_version": "2021-04-16",
            "resources": {"inner": {"type": "inner.yaml"}},
        }
        nested = {
            "heat_template_version": "2021-04-16",
            "resources": {"deep": {"type": "deep.yaml"}},
        }
        (folder / "outer.yaml").write_text(yaml.safe_dump(template))
        (folder / "inner.yaml").write_text(yaml.safe_dump(nested))
        (folder / "deep.yaml").write_text("heat_template_version: 2021-04-16\nresources: {}\n")
    first, second = (
        TemplateDefinition(Files((tmp_path / name,)), "outer.yaml", ()).load()
        for name in ("one", "other")
    )
    assert first == second
    assert set(first[1]) == {"inner.yaml", "deep.yaml"}
    assert str(tmp_path) not in str(first)


def test_missing_template(tmp_path: Path) -> None:
    """A driver without its template breaks the contract, in words."""
    with pytest.raises(DriverContractError, match=r"gone\.yaml"):
        TemplateDefinition(Files((tmp_path,)), "gone.yaml", ()).load()


def test_files_of_a_template(tmp_path: Path) -> None:
    """A template's files go along; what is no template is named."""
    outer = {"resources": {"x": {"properties": {"text": {"get_file": "script.sh"}}}}}
    (tmp_path / "outer.yaml").write_text(yaml.safe_dump(outer))
    (tmp_path / "script.sh").write_text("echo resources:")
    _, files = TemplateDefinition(Files((tmp_path,)), "outer.yaml", ()).load()
    assert files == {"script.sh": "echo resources:"}
    for text, words in (("[1, 2]", "has no resources"), ("a: [", "Template outer")):
        (tmp_path / "outer.yaml").write_text(text)
        with pytest.raises(DriverContractError, match=words):
            TemplateDefinition(Files((tmp_path,)), "outer.yaml", ()).load()
