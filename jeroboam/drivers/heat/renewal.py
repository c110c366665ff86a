"""Gives a stack that exists the template that its cluster is upgraded to.

Heat keeps a stack's template and its nested ones. They are compared by content, and sent only when
they differ: most upgrades change nothing but what nodes are set up from.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jeroboam.drivers.heat.phases import StackState
from jeroboam.drivers.heat.stacks import Stacks
from jeroboam.drivers.heat.template_definition import Facts, TemplateDefinition


@dataclass(frozen=True)
class Renewal:
    """What replaces a stack's template.

    Args:
        template: The outermost one.
        files: What it refers to, by name.
        parameters: Values of the parameters that the former template did not declare.
    """

    template: Mapping[str, Any]
    files: Mapping[str, str]
    parameters: Mapping[str, Any]

    @classmethod
    def of(
        cls, stacks: Stacks, stack: StackState, definition: TemplateDefinition, facts: Facts
    ) -> "Renewal | None":
        """Return what a stack lacks of a definition; ``None`` if it is made from it already."""
        template, files = definition.load()
        current, current_files = stacks.template(stack.id)
        same_files = all(current_files.get(name) == text for name, text in files.items())
        if current == template and same_files:
            return None
        values = definition.declared_values(template, facts)
        fresh = {name: value for name, value in values.items() if name not in stack.parameters}
        return cls(template, files, fresh)

    def request(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is added to the request that changes parameters."""
        return {
            "template": self.template,
            "files": self.files,
            "parameters": {**self.parameters, **parameters},
        }
