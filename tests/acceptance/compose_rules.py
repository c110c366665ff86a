"""What the compose specification's schema cannot say about our compose file."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jeroboam.settings import Settings

Service = Mapping[str, Any]
Compose = Mapping[str, Any]

SECRET = re.compile(r"PASSWORD|PWD|_KEY$|TOKEN")
REQUIRED = re.compile(r"\$\{(\w+):\?")
VARIABLE = re.compile(r"\$\{(\w+)")
PINNED = re.compile(r"^[\w./-]+:\d+\.\d+(\.\d+)?(-[\w.]+)?$")
ARCHIVED = ("temporalio/auto-setup", "temporalio/tctl", "temporalio/web")


def faults(compose: Compose, directory: Path, example: str) -> list[str]:
    """Return one sentence for each rule that is broken.

    Args:
        directory: Where the file lies; what it mounts must exist there.
        example: Text of ``.env.example``.
    """
    found = [
        f"{name}: {fault}"
        for name, service in compose["services"].items()
        for fault in _service_faults(service, compose, directory)
    ]
    documented = set(re.findall(r"^#?(\w+)=", example, re.MULTILINE))
    missing = sorted(set(VARIABLE.findall(str(compose))) - documented)
    preset = re.findall(r"^(\w+)=\S+", example, re.MULTILINE)
    found += [f"{name} is not in .env.example" for name in missing]
    found += [f"{name} has a value in .env.example" for name in preset]
    return found


def _service_faults(service: Service, compose: Compose, directory: Path) -> Iterator[str]:
    image = service["image"]
    if not PINNED.match(image) or image.startswith(ARCHIVED):
        yield f"image {image} is not pinned, or archived"
    for port in service.get("ports", ()):
        if not str(port).startswith("127.0.0.1:"):
            yield f"port {port} is not on loopback"
    yield from _environment_faults(service.get("environment", {}))
    yield from _dependency_faults(service, compose)
    yield from _mount_faults(service, compose, directory)


def _environment_faults(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if SECRET.search(name) and not REQUIRED.search(str(value)):
            yield f"{name} has a default"
        field = name.removeprefix("JEROBOAM_").lower()
        known = field in Settings.model_fields or name == "JEROBOAM_DATABASE_PASSWORD"
        if name.startswith("JEROBOAM_") and not known:
            yield f"{name} is no setting"


def _dependency_faults(service: Service, compose: Compose) -> Iterator[str]:
    for name, dependency in service.get("depends_on", {}).items():
        other = compose["services"].get(name)
        if other is None:
            yield f"depends on {name}, which does not exist"
        elif dependency["condition"] == "service_healthy" and "healthcheck" not in other:
            yield f"waits for the health of {name}, which has no check"
    for name in service.get("networks", ()):
        if name not in compose["networks"]:
            yield f"network {name} does not exist"


def _mount_faults(service: Service, compose: Compose, directory: Path) -> Iterator[str]:
    for mount in service.get("volumes", ()):
        if isinstance(mount, Mapping):
            if mount["type"] == "bind" and not mount.get("read_only"):
                yield f"{mount['target']} can be written"
            continue
        source, *rest = mount.split(":")
        if source.startswith("."):
            if not (directory / source).exists():
                yield f"{source} does not exist"
            if rest[-1] != "ro":
                yield f"{source} can be written"
        elif source not in compose["volumes"]:
            yield f"volume {source} does not exist"
