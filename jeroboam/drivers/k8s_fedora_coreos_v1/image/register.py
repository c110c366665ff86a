"""Puts the newest Fedora CoreOS image into Glance: ``python -m ... --help``."""

import argparse
import hashlib
import lzma
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openstack
import requests

from jeroboam.drivers.k8s_fedora_coreos_v1 import version
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import CloudUnavailableError, JeroboamError, NotFoundError

STREAMS = "https://builds.coreos.fedoraproject.org/streams"
DISTRO = "fedora-coreos"
RELEASE_PROPERTY = "fedora_coreos_release"

_TIMEOUT_SECONDS = 60
_CHUNK = 1 << 20
_ARCHITECTURES = ("x86_64", "aarch64")


@dataclass(frozen=True)
class Artifact:
    """One downloadable image.

    Args:
        checksum: SHA-256 of what lies inside the compressed file.
    """

    release: str
    location: str
    checksum: str


def find_artifact(stream: Mapping[str, Any], architecture: str) -> Artifact:
    """Return the OpenStack image of a stream's description.

    Raises:
        NotFoundError: The stream has none for the architecture.
    """
    try:
        found = stream["architectures"][architecture]["artifacts"]["openstack"]
        disk = found["formats"]["qcow2.xz"]["disk"]
        return Artifact(found["release"], disk["location"], disk["uncompressed-sha256"])
    except KeyError as error:
        raise NotFoundError(
            f"The stream has no OpenStack image for {architecture} (no {error}). "
            "Choose another stream or architecture."
        ) from None


def fetch(artifact: Artifact, target: Path) -> None:
    """Download and unpack an image, and check it.

    Raises:
        CloudUnavailableError: It does not arrive, or not whole.
    """
    digest = hashlib.sha256()
    unpacker = lzma.LZMADecompressor()
    with _open(artifact.location) as answer, target.open("wb") as file:
        for chunk in answer.iter_content(_CHUNK):
            data = unpacker.decompress(chunk)
            digest.update(data)
            file.write(data)
    if digest.hexdigest() != artifact.checksum:
        raise CloudUnavailableError(
            f"{artifact.location} has the wrong checksum. Try again; if that does not help, "
            "look at what stands between this machine and the download."
        )


def register(
    connection: Any, artifact: Artifact, file: Path, *, name: str, public: bool, pin: bool
) -> str:
    """Upload an image and return its id."""
    properties = {
        "os_distro": DISTRO,
        "magnum_distro": DISTRO,
        RELEASE_PROPERTY: artifact.release,
        **({"magnum_driver": version.Driver} if pin else {}),
    }
    with translate_cloud_errors("Glance"):
        image = connection.image.create_image(
            name,
            allow_duplicates=True,
            disk_format="qcow2",
            container_format="bare",
            visibility="public" if public else "private",
            **properties,
        )
    try:
        _upload(connection, image.id, file)
    except JeroboamError:
        with translate_cloud_errors("Glance"):
            connection.image.delete_image(image.id)
        raise
    return str(image.id)


def _upload(connection: Any, image_id: str, file: Path) -> None:
    """Send the file; the SDK's own upload would leave it open."""
    with translate_cloud_errors("Glance"), file.open("rb") as data:
        answer = connection.image.put(
            f"/images/{image_id}/file",
            data=data,
            headers={"Content-Type": "application/octet-stream"},
        )
        openstack.exceptions.raise_from_response(answer)


def registered(connection: Any, artifact: Artifact) -> str | None:
    """Return the id of an image of the same release, if there is one."""
    with translate_cloud_errors("Glance"):
        images = connection.image.images(status="active")
        same = (i for i in images if (i.properties or {}).get(RELEASE_PROPERTY) == artifact.release)
        return next((str(image.id) for image in same), None)


def _open(url: str) -> requests.Response:
    try:
        answer = requests.get(url, timeout=_TIMEOUT_SECONDS, stream=True)
        answer.raise_for_status()
    except requests.RequestException as error:
        raise CloudUnavailableError(f"{url} cannot be read: {error}") from None
    return answer


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="register", description=__doc__)
    parser.add_argument("--cloud", help="entry of clouds.yaml")
    parser.add_argument("--stream", default="stable", help="stable, testing or next")
    parser.add_argument("--streams-url", default=STREAMS, help="where the streams are described")
    parser.add_argument("--arch", default="x86_64", choices=_ARCHITECTURES)
    parser.add_argument("--name", default=DISTRO, help="name of the image")
    parser.add_argument("--public", action="store_true", help="for all projects")
    parser.add_argument("--pin", action="store_true", help="tie the image to this driver")
    parser.add_argument("--folder", type=Path, help="where the download goes")
    return parser.parse_args(arguments)


def run(arguments: list[str] | None = None) -> str:
    """Do it all and return the image's id."""
    given = _arguments(arguments)
    with _open(f"{given.streams_url}/{given.stream}.json") as answer:
        artifact = find_artifact(answer.json(), given.arch)
    with openstack.connect(cloud=given.cloud) as connection:
        if known := registered(connection, artifact):
            return known
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            file = Path(folder) / "image.qcow2"
            fetch(artifact, file)
            return register(
                connection, artifact, file, name=given.name, public=given.public, pin=given.pin
            )


def main() -> None:
    """Print the image's id, or what went wrong."""
    try:
        sys.stdout.write(f"{run()}\n")
    except JeroboamError as error:
        sys.exit(error.message)


if __name__ == "__main__":
    main()
