"""A Heat template and its mappings: all that a driver on Heat needs to name. Pure but for files.

A *fact* is a dotted path into what is known of a cluster: ``cluster.name``,
``template.external_network_id``, ``masters.node_count``, ``labels.kube_tag`` or whatever a driver
family adds. A parameter mapping carries a fact to a Heat parameter, an output mapping carries a
stack's output to a field of ``ClusterOutputs``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from jeroboam.drivers.heat import template_files
from jeroboam.drivers.nodes.files import Files
from jeroboam.errors import DriverContractError, InvalidRequestError
from jeroboam.models import ClusterOutputs, ClusterSpec, NodeGroup
from jeroboam.models.cluster import MASTER

Facts = Mapping[str, Any]
Convert = Callable[[Any], Any]
TextField = Literal["api_address", "coe_version", "container_version", "discovery_url"]


@dataclass(frozen=True)
class ParameterMapping:
    """Carries one fact to one Heat parameter.

    Args:
        parameter: Name in the template.
        fact: Dotted path of the value.
        required: Whether the cluster cannot be built without it.
        default: Used when the fact is unset; without one the template's own default holds.
        convert: Applied to a value that is set.
        hint: For the user, what to do when a required value is missing.
    """

    parameter: str
    fact: str
    required: bool = False
    default: Any = None
    convert: Convert | None = None
    hint: str = ""

    def value(self, facts: Facts) -> Any:
        """Return the parameter's value; ``None`` leaves it to the template.

        Raises:
            InvalidRequestError: The value is required and missing.
        """
        found = lookup(facts, self.fact)
        if found is None or found == "":
            found = self.default
        elif self.convert:
            found = self.convert(found)
        if found is None and self.required:
            raise InvalidRequestError(
                f"{self.fact} is needed and not set. {self.hint or 'Set it.'}".strip()
            )
        return found


@dataclass(frozen=True)
class OutputMapping:
    """Carries one output of the stack to a text field of ``ClusterOutputs``."""

    output: str
    field: TextField
    convert: Convert | None = None

    def read(self, outputs: Mapping[str, Any]) -> str | None:
        """Return the field's value, ``None`` when the stack does not tell."""
        found = outputs.get(self.output)
        if found in {None, ""}:
            return None
        return str(self.convert(found) if self.convert else found)


@dataclass(frozen=True)
class AddressMapping:
    """Carries outputs with lists of addresses to the node groups of a role.

    Args:
        role: ``master`` or ``worker``; of the workers it is the default group.
        outputs: The first of these which holds addresses is taken, so public ones go first.
        nodes: The output with a list of nodes: maps of name, id, addresses and version.
    """

    role: str
    outputs: tuple[str, ...]
    nodes: str = ""

    def read(self, outputs: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the addresses, without the gaps that Heat leaves for what is missing."""
        for name in self.outputs:
            if addresses := tuple(str(one) for one in outputs.get(name) or () if one):
                return addresses
        return ()


@dataclass(frozen=True)
class TemplateDefinition:
    """One Heat template with its mappings.

    Args:
        files: All files of the driver.
        template: Name of the outermost template; nested ones are found from there.
        parameters: How the parameters get their values.
        outputs: How text outputs are read.
        addresses: How node addresses are read.
    """

    files: Files
    template: str
    parameters: tuple[ParameterMapping, ...]
    outputs: tuple[OutputMapping, ...] = ()
    addresses: tuple[AddressMapping, ...] = ()

    def at(self, folder: Path) -> "TemplateDefinition":
        """Return the definition with its files as they were kept in a folder."""
        return replace(self, files=self.files.at(folder))

    def parameter_values(self, facts: Facts) -> dict[str, Any]:
        """Return the values for a stack, without those left to the template's defaults."""
        values = {mapping.parameter: mapping.value(facts) for mapping in self.parameters}
        return {name: value for name, value in values.items() if value is not None}

    def read_outputs(self, spec: ClusterSpec, outputs: Mapping[str, Any]) -> ClusterOutputs:
        """Return what a finished stack tells of its cluster."""
        texts = {mapping.field: mapping.read(outputs) for mapping in self.outputs}
        first_of_role = [one for one in spec.node_groups if one.role == MASTER or one.is_default]
        addresses = {
            group.uuid: mapping.read(outputs)
            for mapping in self.addresses
            for group in first_of_role
            if group.role == mapping.role
        }
        return ClusterOutputs(node_addresses=addresses, **texts)

    def nodes(self, role: str, outputs: Mapping[str, Any]) -> Any:
        """Return what the stack tells of the nodes of a role, unread."""
        return next((outputs.get(one.nodes) for one in self.addresses if one.role == role), None)

    def declared_values(self, template: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
        """Return the values of the parameters that a template declares.

        The mappings may be younger than a template that was kept with its cluster.
        """
        declared = template.get("parameters") or {}
        values = self.parameter_values(facts)
        return {name: value for name, value in values.items() if name in declared}

    def check(self) -> None:
        """Check that what is installed fits together: the template's files, and the mappings.

        Raises:
            DriverContractError: A file is missing or no template, a mapping names a parameter
                that the template does not declare, or one that it needs is not mapped.
        """
        template, _ = self.load()
        declared = template.get("parameters") or {}
        mapped = {mapping.parameter for mapping in self.parameters}
        needed = {name for name, one in declared.items() if "default" not in (one or {})}
        for names, words in (
            (mapped - declared.keys(), "does not declare"),
            (needed - mapped, "needs, and nothing maps,"),
        ):
            if names:
                raise DriverContractError(
                    f"Template {self.template} {words} the parameters: {', '.join(sorted(names))}."
                )

    def load(self) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the template and the files that it refers to, ready for Heat."""
        return template_files.load(self.files, self.template)


def lookup(facts: Facts, path: str) -> Any:
    """Return the value at a dotted path; a part that is not there gives ``None``.

    Raises:
        DriverContractError: The first part names nothing that is known.
    """
    first, *rest = path.split(".")
    if first not in facts:
        raise DriverContractError(f"A mapping names '{path}', but there is no '{first}'.")
    value = facts[first]
    for part in rest:
        value = value.get(part) if isinstance(value, Mapping) else getattr(value, part, None)
    return value


def basic_facts(spec: ClusterSpec) -> dict[str, Any]:
    """Return the facts that any driver on Heat may map."""
    return {
        "cluster": spec.cluster,
        "template": spec.template,
        "masters": spec.masters,
        "workers": default_workers(spec) or {},
    }


def default_workers(spec: ClusterSpec) -> NodeGroup | None:
    """Return the group of workers that is a part of the cluster's own stack, if it has one."""
    return next((group for group in spec.workers if group.is_default), None)
