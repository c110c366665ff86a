"""Fedora Atomic Host: its last release, for there will be no other."""

import argparse
import re
from typing import ClassVar

from jeroboam.drivers.images.artifact import Artifact, ImageSource, read_text
from jeroboam.errors import NotFoundError

RELEASE = "29-20191126.0"
ARCHIVE = "https://dl.fedoraproject.org/pub/alt/atomic/stable"


class FedoraAtomic(ImageSource):
    """One release, as the archive keeps it."""

    distro = "fedora-atomic"
    release_property = "fedora_atomic_release"
    architectures: ClassVar[tuple[str, ...]] = ("x86_64", "aarch64")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the release and the place."""
        parser.add_argument("--release", default=RELEASE, help=f"as {RELEASE}")
        parser.add_argument("--archive-url", default=ARCHIVE, help="a mirror of the archive")

    def find(self, given: argparse.Namespace) -> Artifact:
        """Return the image, with the checksum that the archive tells."""
        number, _, build = given.release.partition("-")
        folder = (
            f"{given.archive_url}/Fedora-{number}-updates-{build}/AtomicHost/{given.arch}/images"
        )
        name = f"Fedora-AtomicHost-{given.release}.{given.arch}.qcow2"
        listed = f"{folder}/Fedora-AtomicHost-{given.release}-{given.arch}-CHECKSUM"
        match = re.search(
            rf"^SHA256 \({re.escape(name)}\) = ([0-9a-f]{{64}})$", read_text(listed), re.MULTILINE
        )
        if match is None:
            raise NotFoundError(f"{listed} names no {name}. Choose another --release.")
        return Artifact(given.release, f"{folder}/{name}", match[1])
