"""The newest image of each system is found where its makers publish it, and arrives whole."""

import argparse
import bz2
import gzip
import hashlib
import json
import lzma
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from jeroboam.drivers.images.artifact import Artifact, ImageSource, fetch
from jeroboam.drivers.images.fedora_atomic import FedoraAtomic
from jeroboam.drivers.images.fedora_coreos import FedoraCoreos
from jeroboam.drivers.images.flatcar import IMAGE, Flatcar
from jeroboam.drivers.images.ubuntu import INDEX, Ubuntu
from jeroboam.errors import CloudUnavailableError, NotFoundError

CONTENT = b"an image of some size" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Mirror:
    """A place on the web whose files are in a folder."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}"

    def put(self, name: str, content: bytes | str) -> str:
        """Publish a file and return its URL."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return f"{self.url}/{name}"


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[Mirror]:
    folder = tmp_path / "mirror"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield Mirror(folder, server.server_port)
    server.shutdown()
    server.server_close()
    thread.join()


def found(source: ImageSource, *arguments: str) -> Artifact:
    """Return what a source finds with the arguments of a command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--arch", default="x86_64")
    source.add_arguments(parser)
    return source.find(parser.parse_args(arguments))


def arrives(artifact: Artifact, folder: Path) -> None:
    target = folder / "image"
    fetch(artifact, target)
    assert target.read_bytes() == CONTENT


def test_ubuntu(mirror: Mirror, tmp_path: Path) -> None:
    """Of Ubuntu's builds of a release, the newest one that has an image is taken."""
    item = {"path": "server/noble.img", "sha256": SHA256}
    older = {"path": "server/older.img", "sha256": "0"}
    builds = {
        "20261101": {"items": {"disk1.img": item}},
        "20261001": {"items": {"disk1.img": older}},
        "20261120": {"items": {"root.tar.xz": {}}},
    }
    index = {"products": {"com.ubuntu.cloud:server:24.04:amd64": {"versions": builds}}}
    mirror.put(INDEX, json.dumps(index))
    mirror.put("server/noble.img", CONTENT)
    artifact = found(Ubuntu(), "--releases-url", mirror.url)
    assert artifact.release == "24.04-20261101"
    arrives(artifact, tmp_path)
    with pytest.raises(NotFoundError, match=r"Ubuntu 23\.10 has no image"):
        found(Ubuntu(), "--releases-url", mirror.url, "--release", "23.10")


def test_flatcar(mirror: Mirror, tmp_path: Path) -> None:
    """Flatcar's current release is found, and the checksum of the packed file is checked."""
    packed = bz2.compress(CONTENT)
    mirror.put("amd64-usr/current/version.txt", "FLATCAR_BUILD=4459\nFLATCAR_VERSION=4459.2.1\n")
    mirror.put(f"amd64-usr/4459.2.1/{IMAGE}", packed)
    digests = (
        f"# MD5 HASH\n{'0' * 32}  {IMAGE}\n"
        f"# SHA512 HASH\n{hashlib.sha512(packed).hexdigest()}  {IMAGE}\n"
    )
    mirror.put(f"amd64-usr/4459.2.1/{IMAGE}.DIGESTS", digests)
    artifact = found(Flatcar(), "--channels-url", mirror.url)
    assert artifact.release == "4459.2.1"
    arrives(artifact, tmp_path)


def test_flatcar_without_a_checksum(mirror: Mirror) -> None:
    """A release whose checksum is not told is not taken."""
    mirror.put("amd64-usr/current/version.txt", "FLATCAR_VERSION=1.2.3\n")
    mirror.put(f"amd64-usr/1.2.3/{IMAGE}.DIGESTS", f"{'0' * 128}  other.img\n")
    with pytest.raises(NotFoundError, match="DIGESTS does not tell"):
        found(Flatcar(), "--channels-url", mirror.url)


def test_fedora_atomic(mirror: Mirror, tmp_path: Path) -> None:
    """Fedora Atomic's last release is found in the archive."""
    folder = "Fedora-29-updates-20191126.0/AtomicHost/x86_64/images"
    name = "Fedora-AtomicHost-29-20191126.0.x86_64.qcow2"
    mirror.put(f"{folder}/{name}", CONTENT)
    listed = f"{folder}/Fedora-AtomicHost-29-20191126.0-x86_64-CHECKSUM"
    mirror.put(listed, f"# {name}: 1 bytes\nSHA256 ({name}) = {SHA256}\n")
    arrives(found(FedoraAtomic(), "--archive-url", mirror.url), tmp_path)
    mirror.put(listed, "nothing\n")
    with pytest.raises(NotFoundError, match="names no Fedora-AtomicHost"):
        found(FedoraAtomic(), "--archive-url", mirror.url)


def test_fedora_coreos(mirror: Mirror, tmp_path: Path) -> None:
    """A stream of Fedora CoreOS tells its image, and what it lacks is named."""
    location = mirror.put("image.qcow2.xz", lzma.compress(CONTENT))
    disk = {"location": location, "uncompressed-sha256": SHA256}
    artifact = {"release": "44.1", "formats": {"qcow2.xz": {"disk": disk}}}
    stream = {"architectures": {"x86_64": {"artifacts": {"openstack": artifact}}}}
    mirror.put("stable.json", json.dumps(stream))
    arrives(found(FedoraCoreos(), "--streams-url", mirror.url), tmp_path)
    with pytest.raises(NotFoundError, match="aarch64"):
        found(FedoraCoreos(), "--streams-url", mirror.url, "--arch", "aarch64")
    with pytest.raises(CloudUnavailableError, match=r"none\.json cannot be read"):
        found(FedoraCoreos(), "--streams-url", mirror.url, "--stream", "none")


@pytest.mark.parametrize(
    ("packing", "packed"),
    [("", CONTENT), ("gz", gzip.compress(CONTENT)), ("xz", lzma.compress(CONTENT))],
    ids=["plain", "gz", "xz"],
)
def test_unpacks(packing: str, packed: bytes, mirror: Mirror, tmp_path: Path) -> None:
    """An image arrives unpacked, however it is packed; a wrong checksum is noticed."""
    location = mirror.put("image", packed)
    arrives(Artifact("1", location, SHA256, packing=packing), tmp_path)
    with pytest.raises(CloudUnavailableError, match="wrong checksum"):
        fetch(Artifact("1", location, "0" * 64, packing=packing), tmp_path / "image")


@pytest.mark.parametrize("packing", ["bz2", "gz", "xz"])
def test_no_archive(packing: str, mirror: Mirror, tmp_path: Path) -> None:
    """What is not packed as it should be is called damaged."""
    location = mirror.put("image", CONTENT)
    with pytest.raises(CloudUnavailableError, match="is damaged"):
        fetch(Artifact("1", location, SHA256, packing=packing), tmp_path / "image")


def test_no_json(mirror: Mirror) -> None:
    """A page in place of an index is named, not a traceback."""
    mirror.put("stable.json", "<html>")
    with pytest.raises(CloudUnavailableError, match="is no JSON"):
        found(FedoraCoreos(), "--streams-url", mirror.url)
