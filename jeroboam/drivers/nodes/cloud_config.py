"""Documents for cloud-init: ``#cloud-config`` and one JSON object, which is YAML as well. Pure."""

import json
from collections.abc import Iterator
from typing import Any, ClassVar

from jeroboam.drivers.nodes import placeholders
from jeroboam.drivers.nodes.documents import NodeDocument, packed
from jeroboam.drivers.nodes.manifest import File, NodeFiles
from jeroboam.errors import DriverContractError

HEADER = "#cloud-config\n"
UNITS = "/etc/systemd/system"

_SYSTEMCTL = "/usr/bin/systemctl"
_UNIT_MODE = 0o644


class CloudConfig(NodeDocument):
    """Documents of cloud-init.

    A system that cloud-init sets up has booted already when the files arrive: the commands make
    up for what the boot would have done with them, and units are started without waiting, for
    cloud-init is itself a part of the boot.
    """

    escapes: ClassVar = {"\\": "\\\\", '"': '\\"'}

    def write(self, node: NodeFiles) -> str:
        """Return the document."""
        if node.kernel_arguments:
            raise DriverContractError("cloud-init sets no arguments of the kernel.")
        document = {
            "hostname": placeholders.NODE_NAME,
            "preserve_hostname": False,
            "write_files": [_file(one) for one in (*node.files, *_unit_files(node))],
            "runcmd": list(_commands(node)),
        }
        return HEADER + json.dumps(document, separators=(",", ":"))


def _file(file: File) -> dict[str, str]:
    written = {"path": file.path, "owner": "root:root", "permissions": f"{file.mode:04o}"}
    short = packed(file.text)
    # JSON writes rare letters as two halves, which YAML does not put together.
    plain = file.text.isascii() and len(file.text) <= len(short)
    if plain or placeholders.PATTERN.search(file.text):
        return {**written, "content": file.text}
    return {**written, "encoding": "gz+b64", "content": short}


def _unit_files(node: NodeFiles) -> Iterator[File]:
    for unit in node.units:
        if unit.text:
            yield File(f"{UNITS}/{unit.name}", _UNIT_MODE, unit.text)
        for dropin in unit.dropins:
            yield File(f"{UNITS}/{unit.name}.d/{dropin.name}", _UNIT_MODE, dropin.text)


def _commands(node: NodeFiles) -> Iterator[list[Any]]:
    """Yield the commands; as lists they pass through no shell."""
    for one in node.directories:
        yield ["install", "-d", "-m", f"{one.mode:04o}", one.path]
    masked = _names(node, lambda unit: unit.masked)
    if masked:
        yield [_SYSTEMCTL, "mask", "--now", *masked]
    yield from (list(command) for command in node.commands)
    yield [_SYSTEMCTL, "daemon-reload"]
    enabled = _names(node, lambda unit: bool(unit.enabled) and not unit.masked)
    if enabled:
        yield [_SYSTEMCTL, "enable", *enabled]
        yield [_SYSTEMCTL, "start", "--no-block", *enabled]


def _names(node: NodeFiles, chosen: Any) -> list[str]:
    return [unit.name for unit in node.units if chosen(unit)]
