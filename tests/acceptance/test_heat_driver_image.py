"""The image of the driver gets into a real Glance with all that the driver is chosen by."""

import hashlib
import json
import lzma
import struct
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import openstack
import pytest

from devcloud import Devcloud
from jeroboam.drivers.images import registration
from jeroboam.drivers.images.artifact import Artifact
from jeroboam.drivers.k8s_fedora_coreos_v1 import version
from jeroboam.drivers.k8s_fedora_coreos_v1.image.register import SOURCE
from jeroboam.errors import CloudUnavailableError, InvalidRequestError

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.filterwarnings("ignore:Support for InfluxDB"),
]

# The header of an empty qcow2 image of 1 MiB; Glance looks into what it is given.
HEADER = struct.pack(
    ">4sIQIIQIIQQIIQQQQII",
    *(b"QFI\xfb", 3, 0, 0, 16, 1 << 20, 0, 1, 0x30000, 0x10000, 1, 0, 0, 0, 0, 0, 4, 104),
)
CONTENT = HEADER.ljust(0x40000, b"\0")
RELEASE = "44.20261101.3.0"


def stream(location: str, content: bytes = CONTENT) -> dict[str, Any]:
    disk = {"location": location, "uncompressed-sha256": hashlib.sha256(content).hexdigest()}
    artifact = {"release": RELEASE, "formats": {"qcow2.xz": {"disk": disk}}}
    return {"architectures": {"x86_64": {"artifacts": {"openstack": artifact}}}}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[str]:
    """A place with one stream and its image."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    url = f"http://127.0.0.1:{server.server_port}"
    (folder / "image.qcow2.xz").write_bytes(lzma.compress(CONTENT))
    (folder / "stable.json").write_text(json.dumps(stream(f"{url}/image.qcow2.xz")))
    (folder / "broken.json").write_text(json.dumps(stream(f"{url}/image.qcow2.xz", b"other")))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield url
    server.shutdown()
    server.server_close()
    thread.join()


def test_registers_once(mirror: str, cloud: Devcloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """The image arrives whole and with its properties; a second call finds it."""
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(cloud.clouds_yaml))
    arguments = ["--cloud", "demo", "--streams-url", mirror, "--pin", "--name", "coreos-test"]
    image_id = registration.run(version.Driver, SOURCE, arguments)
    with openstack.connect(cloud="demo") as connection:
        try:
            image = connection.image.get_image(image_id)
            assert image.os_distro == "fedora-coreos"
            assert image.properties["magnum_distro"] == "fedora-coreos"
            assert image.properties["magnum_driver"] == "k8s_fedora_coreos_v1"
            assert image.size == len(CONTENT)
            assert registration.run(version.Driver, SOURCE, arguments) == image_id
        finally:
            connection.image.delete_image(image_id)


def test_damaged_download(mirror: str, cloud: Devcloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has the wrong checksum is not registered."""
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(cloud.clouds_yaml))
    arguments = ["--cloud", "demo", "--streams-url", mirror, "--stream", "broken"]
    with pytest.raises(CloudUnavailableError, match="wrong checksum"):
        registration.run(version.Driver, SOURCE, arguments)


def test_no_image(tmp_path: Path, cloud: Devcloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Glance does not take for an image leaves nothing behind."""
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(cloud.clouds_yaml))
    file = tmp_path / "file"
    file.write_bytes(b"no image")
    artifact = Artifact("0", "http://x", "0")
    with openstack.connect(cloud="demo") as connection:
        with pytest.raises(InvalidRequestError, match="does not match"):
            registration.register(
                connection, SOURCE, artifact, file, name="bad", public=False, properties={}
            )
        assert connection.image.find_image("bad") is None
