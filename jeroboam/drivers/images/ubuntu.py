"""Ubuntu: one JSON document lists the builds of all releases."""

import argparse
from collections.abc import Mapping
from typing import Any

from jeroboam.drivers.images.artifact import Artifact, ImageSource, read_json
from jeroboam.errors import NotFoundError

RELEASES = "https://cloud-images.ubuntu.com/releases"
INDEX = "streams/v1/com.ubuntu.cloud:released:download.json"

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_ITEM = "disk1.img"


class Ubuntu(ImageSource):
    """The newest build of a release."""

    distro = "ubuntu"
    release_property = "ubuntu_release"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the release."""
        parser.add_argument("--release", default="24.04", help="as 24.04")
        parser.add_argument("--releases-url", default=RELEASES, help="where releases are listed")

    def find(self, given: argparse.Namespace) -> Artifact:
        """Return the newest build of the release."""
        index = read_json(f"{given.releases_url}/{INDEX}")
        return artifact_of(index, given.releases_url, given.release, given.arch)


def artifact_of(index: Mapping[str, Any], url: str, release: str, architecture: str) -> Artifact:
    """Return the newest build that an index lists.

    Raises:
        NotFoundError: There is none.
    """
    product = f"com.ubuntu.cloud:server:{release}:{_ARCHITECTURES[architecture]}"
    builds = index.get("products", {}).get(product, {}).get("versions", {})
    complete = {build: found["items"][_ITEM] for build, found in builds.items() if _has(found)}
    if not complete:
        raise NotFoundError(
            f"Ubuntu {release} has no image for {architecture}. Choose another --release or --arch."
        )
    newest = max(complete)
    item = complete[newest]
    return Artifact(f"{release}-{newest}", f"{url}/{item['path']}", item["sha256"])


def _has(build: Mapping[str, Any]) -> bool:
    item = build.get("items", {}).get(_ITEM, {})
    return "path" in item and "sha256" in item
