"""Ignition documents made from a manifest that a driver keeps beside its template.

The manifest is YAML: ``files`` and ``units``, each with a ``path`` or ``name``, the ``roles``
that get it, and its text either ``from`` a file beside the manifest or as ``content`` which the
driver family generates under that name. Pure but for reading these files.
"""

import base64
import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from jeroboam.drivers.heat.kubernetes import placeholders
from jeroboam.errors import DriverContractError, InvalidRequestError

SPEC_VERSION = "3.4.0"

# Nova takes 64 KiB of Base64; the values that Heat puts in need some of it.
MAX_BASE64 = 65535
_RESERVE = 4096

Contents = Mapping[str, str]


def render(
    manifest: Path, role: str, contents: Contents, kernel_arguments: tuple[str, ...] = ()
) -> str:
    """Return the document of a role as JSON in which Heat's values are still missing.

    Args:
        manifest: The driver's manifest.
        role: ``master`` or ``worker``.
        contents: Generated texts by name; an empty one leaves its file or unit out.
        kernel_arguments: Added to the kernel's command line on the first boot.

    Raises:
        InvalidRequestError: The document is too large for Nova.
    """
    listed = yaml.safe_load(manifest.read_text(encoding="utf-8"))
    document: dict[str, Any] = {
        "ignition": {"version": SPEC_VERSION},
        "storage": {
            "directories": [
                {"path": entry["path"], "mode": entry["mode"]}
                for entry in listed.get("directories", ())
                if _wanted(entry, role)
            ],
            "files": [
                _file(entry, text, contents)
                for entry in listed.get("files", ())
                if _wanted(entry, role) and (text := _text(manifest, entry, contents))
            ],
        },
        "systemd": {
            "units": [
                _unit(manifest, entry, contents)
                for entry in listed.get("units", ())
                if _wanted(entry, role)
            ]
        },
    }
    if kernel_arguments:
        document["kernelArguments"] = {"shouldExist": list(kernel_arguments)}
    return _checked(json.dumps(document, separators=(",", ":")), role)


def data_url(text: str) -> dict[str, str]:
    """Return a file's contents; packed unless Heat has to find its words in them."""
    if placeholders.PATTERN.search(text):
        return {"source": f"data:,{quote(text, safe='')}"}
    packed = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
    plain = f"data:,{quote(text, safe='')}"
    if len(plain) <= len(packed):
        return {"source": plain}
    return {"source": f"data:;base64,{packed}", "compression": "gzip"}


def _wanted(entry: Mapping[str, Any], role: str) -> bool:
    return role in entry.get("roles", (role,))


def _text(manifest: Path, entry: Mapping[str, Any], contents: Contents) -> str:
    if "from" in entry:
        source: str = entry["from"]
        return (manifest.parent / source).read_text(encoding="utf-8")
    name: str = entry["content"]
    if name not in contents:
        raise DriverContractError(f"{manifest.name} asks for '{name}', which nobody generates.")
    return contents[name]


def _file(entry: Mapping[str, Any], text: str, contents: Contents) -> dict[str, Any]:
    return {
        "path": entry["path"].format_map(contents),
        "mode": entry["mode"],
        "overwrite": True,
        "contents": data_url(text),
    }


def _unit(manifest: Path, entry: Mapping[str, Any], contents: Contents) -> dict[str, Any]:
    unit: dict[str, Any] = {"name": entry["name"]}
    if "enabled" in entry:
        unit["enabled"] = entry["enabled"]
    if "from" in entry:
        unit["contents"] = _text(manifest, entry, contents)
    if "dropins" in entry:
        unit["dropins"] = [
            {"name": dropin["name"], "contents": text}
            for dropin in entry["dropins"]
            if (text := _text(manifest, dropin, contents))
        ]
    return unit


def _checked(document: str, role: str) -> str:
    size = len(document) * 4 // 3 + _RESERVE
    if size > MAX_BASE64:
        raise InvalidRequestError(
            f"What a {role} needs at its first boot is {size - MAX_BASE64} bytes too large for "
            "Nova. Shorten the options, proxies and node labels."
        )
    return document
