"""Fedora CoreOS: each stream is described by a JSON document."""

import argparse
from collections.abc import Mapping
from typing import Any

from jeroboam.drivers.images.artifact import Artifact, ImageSource, read_json
from jeroboam.errors import NotFoundError

STREAMS = "https://builds.coreos.fedoraproject.org/streams"


class FedoraCoreos(ImageSource):
    """The newest image of a stream."""

    distro = "fedora-coreos"
    release_property = "fedora_coreos_release"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the stream."""
        parser.add_argument("--stream", default="stable", help="stable, testing or next")
        parser.add_argument("--streams-url", default=STREAMS, help="where streams are described")

    def find(self, given: argparse.Namespace) -> Artifact:
        """Return the newest image of the stream."""
        return artifact_of(read_json(f"{given.streams_url}/{given.stream}.json"), given.arch)


def artifact_of(stream: Mapping[str, Any], architecture: str) -> Artifact:
    """Return the OpenStack image of a stream's description.

    Raises:
        NotFoundError: The stream has none for the architecture.
    """
    try:
        found = stream["architectures"][architecture]["artifacts"]["openstack"]
        disk = found["formats"]["qcow2.xz"]["disk"]
        checksum = disk["uncompressed-sha256"]
        return Artifact(found["release"], disk["location"], checksum, packing="xz")
    except KeyError as error:
        raise NotFoundError(
            f"The stream has no OpenStack image for {architecture} (no {error}). "
            "Choose another stream or architecture."
        ) from None
