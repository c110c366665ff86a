"""What a node gets at its first boot, as a list that a driver keeps beside its templates.

The manifest is YAML. ``directories``, ``files`` and ``units`` each have a ``path`` or ``name`` and
the ``roles`` that get them (all if there are none). A text comes ``from`` a file of the driver or
is ``content`` that the driver's family generates under that name; an empty text leaves its file or
drop-in out. A file or unit may be there only ``if`` a text of that name is generated. ``words``
are replaced in all texts and paths. ``include`` takes in other manifests; an entry of the including
one replaces the included one of the same path or name. ``commands`` are for documents that can run
some. Pure but for reading the files.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from jeroboam.drivers.nodes.files import Files
from jeroboam.errors import DriverContractError

MANIFEST = "nodes.yaml"

Contents = Mapping[str, str]
_Entry = Mapping[str, Any]


@dataclass(frozen=True)
class Directory:
    """A directory that has to be there."""

    path: str
    mode: int


@dataclass(frozen=True)
class File:
    """A file with its text."""

    path: str
    mode: int
    text: str


@dataclass(frozen=True)
class DropIn:
    """A part of a unit that adds to what the system, or we, say of it."""

    name: str
    text: str


@dataclass(frozen=True)
class Unit:
    """A unit of systemd.

    Args:
        enabled: ``None`` leaves it as the system has it.
        masked: Whether it must never be started.
        text: Empty if the unit is one of the system's.
    """

    name: str
    enabled: bool | None = None
    masked: bool = False
    text: str = ""
    dropins: tuple[DropIn, ...] = ()


@dataclass(frozen=True)
class NodeFiles:
    """All that a node of a role gets, with words for the engine still to be replaced.

    Args:
        commands: Run once, after the files are there and before units are started.
        kernel_arguments: Added to the kernel's command line on the first boot.
    """

    role: str
    directories: tuple[Directory, ...] = ()
    files: tuple[File, ...] = ()
    units: tuple[Unit, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    kernel_arguments: tuple[str, ...] = ()


def read(
    files: Files,
    role: str,
    contents: Contents,
    kernel_arguments: tuple[str, ...] = (),
    manifest: str = MANIFEST,
) -> NodeFiles:
    """Return what a manifest gives to nodes of a role.

    Args:
        role: ``master`` or ``worker``.
        contents: Generated texts by name.

    Raises:
        DriverContractError: The manifest names what is not there.
    """
    return _Reader(files, role, contents).read(_merged(files, manifest), kernel_arguments)


def _merged(files: Files, name: str) -> dict[str, Any]:
    """Return a manifest together with those that it includes."""
    own = yaml.safe_load(files.read(name)) or {}
    merged: dict[str, Any] = {}
    for part in [*(_merged(files, one) for one in own.get("include", ())), own]:
        for section in ("directories", "files", "units"):
            entries = {_key(entry): entry for entry in merged.get(section, ())}
            entries |= {_key(entry): entry for entry in part.get(section, ())}
            merged[section] = list(entries.values())
        merged["words"] = {**merged.get("words", {}), **part.get("words", {})}
        merged["commands"] = [*merged.get("commands", ()), *part.get("commands", ())]
    return merged


def _key(entry: _Entry) -> str:
    return str(entry.get("path") or entry.get("name"))


class _Reader:
    """Reads one manifest for one role."""

    def __init__(self, files: Files, role: str, contents: Contents) -> None:
        self._files = files
        self._role = role
        self._contents = contents
        self._words: Mapping[str, str] = {}

    def read(self, listed: Mapping[str, Any], kernel_arguments: tuple[str, ...]) -> NodeFiles:
        self._words = listed["words"]
        return NodeFiles(
            role=self._role,
            directories=tuple(
                Directory(self._worded(entry["path"]), entry["mode"])
                for entry in self._mine(listed["directories"])
            ),
            files=tuple(
                File(self._path(entry), entry["mode"], text)
                for entry in self._mine(listed["files"])
                if self._wanted(entry) and (text := self._text(entry))
            ),
            units=tuple(
                unit for entry in self._mine(listed["units"]) if (unit := self._unit(entry))
            ),
            commands=tuple(
                tuple(self._worded(word) for word in entry["run"])
                for entry in self._mine(listed["commands"])
            ),
            kernel_arguments=kernel_arguments,
        )

    def _mine(self, entries: Sequence[_Entry]) -> Iterator[_Entry]:
        return (entry for entry in entries if self._role in entry.get("roles", (self._role,)))

    def _text(self, entry: _Entry) -> str:
        if "from" in entry:
            return self._worded(self._files.read(entry["from"]))
        return self._worded(self._generated(entry["content"]))

    def _generated(self, name: str) -> str:
        if name not in self._contents:
            raise DriverContractError(f"The manifest asks for '{name}', which nobody generates.")
        return self._contents[name]

    def _path(self, entry: _Entry) -> str:
        return self._worded(str(entry["path"])).format_map(self._contents)

    def _wanted(self, entry: _Entry) -> bool:
        """Whether an entry is there at all; one may be there only ``if`` a text is generated."""
        return "if" not in entry or bool(self._generated(entry["if"]))

    def _unit(self, entry: _Entry) -> Unit | None:
        if not self._wanted(entry):
            return None
        return Unit(
            name=entry["name"],
            enabled=entry.get("enabled"),
            masked=bool(entry.get("masked")),
            text=self._text(entry) if "from" in entry else "",
            dropins=tuple(
                DropIn(dropin["name"], text)
                for dropin in entry.get("dropins", ())
                if (text := self._text(dropin))
            ),
        )

    def _worded(self, text: str) -> str:
        for word, value in self._words.items():
            text = text.replace(word, value)
        return text
