"""Flatcar: each channel has a folder with its current release."""

import argparse
import re

from jeroboam.drivers.images.artifact import Artifact, ImageSource, read_text
from jeroboam.errors import NotFoundError

CHANNELS = "https://{channel}.release.flatcar-linux.net"
IMAGE = "flatcar_production_openstack_image.img.bz2"

_ARCHITECTURES = {"x86_64": "amd64-usr", "aarch64": "arm64-usr"}
_VERSION = re.compile(r"^FLATCAR_VERSION=(\S+)$", re.MULTILINE)
_CHECKSUM = re.compile(rf"^([0-9a-f]{{128}}) +\*?{re.escape(IMAGE)}$", re.MULTILINE)


class Flatcar(ImageSource):
    """The current image of a channel."""

    distro = "flatcar"
    release_property = "flatcar_release"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the channel."""
        parser.add_argument("--channel", default="stable", help="stable, beta, alpha or lts")
        parser.add_argument(
            "--channels-url", default=CHANNELS, help="where channels are; {channel} stands for one"
        )

    def find(self, given: argparse.Namespace) -> Artifact:
        """Return the current image of the channel."""
        base = given.channels_url.replace("{channel}", given.channel)
        folder = f"{base}/{_ARCHITECTURES[given.arch]}"
        version = _only(_VERSION, f"{folder}/current/version.txt")
        # What is current may change between two downloads; the release's own folder does not.
        location = f"{folder}/{version}/{IMAGE}"
        checksum = _only(_CHECKSUM, f"{location}.DIGESTS")
        return Artifact(version, location, checksum, "sha512", packing="bz2", of_packed=True)


def _only(pattern: re.Pattern[str], url: str) -> str:
    found = pattern.search(read_text(url))
    if found is None:
        raise NotFoundError(f"{url} does not tell what is looked for in it.")
    return found[1]
