"""Puts a published image into Glance, once: what all drivers' image commands do."""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import openstack

from jeroboam.drivers.images.artifact import Artifact, ImageSource, fetch
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import JeroboamError


def main(driver: str, source: ImageSource) -> None:
    """Print the image's id, or what went wrong."""
    try:
        sys.stdout.write(f"{run(driver, source)}\n")
    except JeroboamError as error:
        sys.exit(error.message)


def run(driver: str, source: ImageSource, arguments: list[str] | None = None) -> str:
    """Find, fetch and register the newest image, and return its id.

    Args:
        driver: The image is tied to it with ``--pin``.
        arguments: Of the command line; by default those of this process.
    """
    given = _parser(source).parse_args(arguments)
    artifact = source.find(given)
    with openstack.connect(cloud=given.cloud) as connection:
        if known := registered(connection, source, artifact):
            return known
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            file = Path(folder) / "image"
            fetch(artifact, file)
            properties = {"magnum_driver": driver} if given.pin else {}
            return register(
                connection,
                source,
                artifact,
                file,
                name=given.name,
                public=given.public,
                properties=properties,
            )


def register(
    connection: Any,
    source: ImageSource,
    artifact: Artifact,
    file: Path,
    *,
    name: str,
    public: bool,
    properties: dict[str, str],
) -> str:
    """Upload an image and return its id."""
    described = {
        "os_distro": source.distro,
        "magnum_distro": source.distro,
        source.release_property: artifact.release,
        **source.properties,
        **properties,
    }
    with translate_cloud_errors("Glance"):
        image = connection.image.create_image(
            name,
            allow_duplicates=True,
            disk_format="qcow2",
            container_format="bare",
            visibility="public" if public else "private",
            **described,
        )
    try:
        _upload(connection, image.id, file)
    except JeroboamError:
        with translate_cloud_errors("Glance"):
            connection.image.delete_image(image.id)
        raise
    return str(image.id)


def registered(connection: Any, source: ImageSource, artifact: Artifact) -> str | None:
    """Return the id of an image of the same release, if there is one."""
    with translate_cloud_errors("Glance"):
        for image in connection.image.images(status="active"):
            if (image.properties or {}).get(source.release_property) == artifact.release:
                return str(image.id)
    return None


def _upload(connection: Any, image_id: str, file: Path) -> None:
    """Send the file; the SDK's own upload would leave it open."""
    with translate_cloud_errors("Glance"), file.open("rb") as data:
        answer = connection.image.put(
            f"/images/{image_id}/file",
            data=data,
            headers={"Content-Type": "application/octet-stream"},
        )
        openstack.exceptions.raise_from_response(answer)


def _parser(source: ImageSource) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="register", description=f"Puts the newest image of {source.distro} into Glance."
    )
    parser.add_argument("--cloud", help="entry of clouds.yaml")
    parser.add_argument("--arch", default="x86_64", choices=source.architectures)
    parser.add_argument("--name", default=source.distro, help="name of the image")
    parser.add_argument("--public", action="store_true", help="for all projects")
    parser.add_argument("--pin", action="store_true", help="tie the image to this driver")
    parser.add_argument("--folder", type=Path, help="where the download goes")
    source.add_arguments(parser)
    return parser
