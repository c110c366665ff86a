"""What a cloud itself says of one cluster. Pure.

Nothing of it comes from the product: what belongs to a cluster is told by the mark in its name.
"""

import base64
import gzip
import json
import re
from datetime import datetime
from typing import Any

from jeroboam.models import Model

_VERSION = re.compile(r"^KUBE_TAG='?(v[0-9.]+)'?$", re.MULTILINE)


class Act(Model):
    """One entry of Nova's log of a server's actions."""

    kind: str
    request: str
    started: datetime
    failed: bool


class Server(Model):
    """One of Nova's servers.

    Args:
        version: Of Kubernetes, out of the document that the server was set up from.
    """

    id: str
    name: str
    status: str
    task: str | None
    addresses: tuple[str, ...]
    version: str | None
    actions: tuple[Act, ...]

    def done(self, kind: str, since: datetime) -> list[Act]:
        """Return the actions of a kind that were begun since a time, without those that failed."""
        return [
            one
            for one in self.actions
            if one.kind == kind and one.started >= since and not one.failed
        ]


class Stack(Model):
    """One of Heat's stacks, without those nested in others."""

    id: str
    name: str
    status: str


class Thing(Model):
    """Anything else.

    Args:
        known: Whether one of the cluster's stacks says that it is its own.
    """

    kind: str
    id: str
    name: str
    known: bool

    def __str__(self) -> str:
        """Return it for a finding."""
        return f"{self.kind} {self.name or 'without a name'} ({self.id})"


class Survey(Model):
    """All that there is of a cluster.

    Args:
        trust: Whether Keystone has the trust with which the product acts for the owner.
    """

    stacks: tuple[Stack, ...] = ()
    servers: tuple[Server, ...] = ()
    things: tuple[Thing, ...] = ()
    trust: bool = False

    def everything(self) -> list[str]:
        """Return all of it in words."""
        return [
            *(f"stack {one.name} ({one.id}), {one.status}" for one in self.stacks),
            *(f"server {one.name} ({one.id}), {one.status}" for one in self.servers),
            *map(str, self.things),
            *(["its trust"] if self.trust else []),
        ]


def version_in(user_data: str | None) -> str | None:
    """Return the version of Kubernetes that an Ignition document sets up."""
    if not user_data:
        return None
    document: dict[str, Any] = json.loads(base64.b64decode(user_data))
    for file in document.get("storage", {}).get("files", ()):
        found = _VERSION.search(_text(file["contents"]))
        if found:
            return found[1]
    return None


def _text(contents: dict[str, str]) -> str:
    head, _, body = contents.get("source", "").partition(",")
    if not head.endswith(";base64"):
        return body
    raw = base64.b64decode(body)
    return (gzip.decompress(raw) if contents.get("compression") else raw).decode(errors="replace")
