"""Ignition documents, for systems that are set up by Ignition. Pure."""

import json
from typing import Any
from urllib.parse import quote

from jeroboam.drivers.nodes import placeholders
from jeroboam.drivers.nodes.documents import NodeDocument, packed
from jeroboam.drivers.nodes.manifest import File, NodeFiles, Unit
from jeroboam.errors import DriverContractError

# What a text that Heat puts in has to look like inside a data: URL in a JSON document.
_ESCAPES = {
    "%": "%25",
    '"': "%22",
    " ": "%20",
    "#": "%23",
    "&": "%26",
    "+": "%2B",
    "?": "%3F",
    "\\": "%5C",
    "^": "%5E",
    "{": "%7B",
    "}": "%7D",
}


class Ignition(NodeDocument):
    """Documents of one version of Ignition's specification.

    Args:
        spec_version: 3.3.0 or later, which has kernel arguments.
    """

    escapes = _ESCAPES
    sets_kernel_arguments = True

    def __init__(self, spec_version: str) -> None:
        self.spec_version = spec_version

    def write(self, node: NodeFiles) -> str:
        """Return the document."""
        if node.commands:
            raise DriverContractError("Ignition runs no commands; use a unit of systemd.")
        document: dict[str, Any] = {
            "ignition": {"version": self.spec_version},
            "storage": {
                "directories": [{"path": one.path, "mode": one.mode} for one in node.directories],
                "files": [_file(one) for one in node.files],
            },
            "systemd": {"units": [_unit(one) for one in node.units]},
        }
        if node.kernel_arguments:
            document["kernelArguments"] = {"shouldExist": list(node.kernel_arguments)}
        return json.dumps(document, separators=(",", ":"))


def data_url(text: str) -> dict[str, str]:
    """Return a file's contents; packed unless Heat has to find its words in them."""
    plain = f"data:,{quote(text, safe='')}"
    if placeholders.PATTERN.search(text):
        return {"source": plain}
    short = packed(text)
    if len(plain) <= len(short):
        return {"source": plain}
    return {"source": f"data:;base64,{short}", "compression": "gzip"}


def _file(file: File) -> dict[str, Any]:
    return {
        "path": file.path,
        "mode": file.mode,
        "overwrite": True,
        "contents": data_url(file.text),
    }


def _unit(unit: Unit) -> dict[str, Any]:
    written: dict[str, Any] = {"name": unit.name}
    if unit.masked:
        written["mask"] = True
    if unit.enabled is not None:
        written["enabled"] = unit.enabled
    if unit.text:
        written["contents"] = unit.text
    if unit.dropins:
        written["dropins"] = [{"name": one.name, "contents": one.text} for one in unit.dropins]
    return written
