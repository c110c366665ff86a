"""A template with all that it refers to, as Heat's API takes them. Pure but for files.

Heat knows nested templates and files by the names under which they are referred to. These are
the names within the driver's files, so they are the same wherever Jeroboam is installed, and
whichever folder a file lies in: Heat takes a nested template of another name for another type of
resource.
"""

import json
from collections.abc import Iterator
from typing import Any

import yaml

from jeroboam.drivers.nodes.files import Files
from jeroboam.errors import DriverContractError

_TEMPLATES = (".yaml", ".yml", ".template")


def load(files: Files, name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a template, and the files that it refers to at any depth.

    Raises:
        DriverContractError: A file is missing or no template.
    """
    template = _parse(files, name)
    found: dict[str, str] = {}
    waiting = list(_references(template))
    while waiting:
        reference, is_template = waiting.pop()
        if reference in found:
            continue
        found[reference] = files.read(reference)
        if is_template:
            waiting += _references(_parse(files, reference))
    return template, dict(sorted(found.items()))


def _parse(files: Files, name: str) -> dict[str, Any]:
    try:
        # YAML takes the version of a template for a date, which JSON does not know.
        parsed = json.loads(json.dumps(yaml.safe_load(files.read(name)), default=str))
    except (yaml.YAMLError, TypeError) as error:
        raise DriverContractError(f"Template {name}: {error}") from None
    if not isinstance(parsed, dict) or "resources" not in parsed:
        raise DriverContractError(f"Template {name} has no resources.")
    return parsed


def _references(tree: Any) -> Iterator[tuple[str, bool]]:
    """Yield what is referred to, and whether that is a template."""
    if isinstance(tree, list):
        for one in tree:
            yield from _references(one)
    if not isinstance(tree, dict):
        return
    for key, value in tree.items():
        if key == "get_file" and isinstance(value, str):
            yield value, False
        elif key == "type" and isinstance(value, str) and value.endswith(_TEMPLATES):
            yield value, True
        else:
            yield from _references(value)
