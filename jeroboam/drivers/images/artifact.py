"""One image that can be downloaded, and the place that tells which is the newest."""

import argparse
import bz2
import gzip
import hashlib
import lzma
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import requests

from jeroboam.errors import CloudUnavailableError

_TIMEOUT_SECONDS = 60
_CHUNK = 1 << 20
_LONGEST_TEXT = 64 << 20


class Unpacker(Protocol):
    """What the standard library's decompressors have in common."""

    def decompress(self, data: bytes, /) -> bytes:
        """Return what has become known by more data."""


class _Plain:
    """Leaves data as they are."""

    def decompress(self, data: bytes, /) -> bytes:
        """Return the data."""
        return data


UNPACKERS: Mapping[str, Callable[[], Unpacker]] = {
    "": _Plain,
    "bz2": bz2.BZ2Decompressor,
    "gz": lambda: zlib.decompressobj(zlib.MAX_WBITS | 16),
    "xz": lzma.LZMADecompressor,
}
_BROKEN = (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error, gzip.BadGzipFile)


@dataclass(frozen=True)
class Artifact:
    """One downloadable image.

    Args:
        checksum: What ``algorithm`` makes of the image, or of the packed file.
        algorithm: As hashlib calls it.
        packing: ``xz``, ``bz2`` or ``gz``; empty if the image is not packed.
        of_packed: Whether the checksum is that of the packed file.
    """

    release: str
    location: str
    checksum: str
    algorithm: str = "sha256"
    packing: str = ""
    of_packed: bool = False


class ImageSource(ABC):
    """Where the images of one operating system are published."""

    distro: ClassVar[str]
    """The property ``magnum_distro``, by which a driver is chosen."""

    release_property: ClassVar[str]
    """Property of the image that holds its release."""

    architectures: ClassVar[tuple[str, ...]] = ("x86_64", "aarch64")

    properties: ClassVar[Mapping[str, str]] = {}
    """What else Glance should know of such an image."""

    @abstractmethod
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add what may be chosen, with defaults."""

    @abstractmethod
    def find(self, given: argparse.Namespace) -> Artifact:
        """Return the newest image.

        Raises:
            NotFoundError: There is none like that.
            CloudUnavailableError: Nobody answers.
        """


def fetch(artifact: Artifact, target: Path) -> None:
    """Download and unpack an image, and check it.

    Raises:
        CloudUnavailableError: It does not arrive, or not whole.
    """
    digest = hashlib.new(artifact.algorithm)
    unpacker = UNPACKERS[artifact.packing]()
    with open_url(artifact.location) as answer, target.open("wb") as file:
        try:
            for chunk in answer.iter_content(_CHUNK):
                data = unpacker.decompress(chunk)
                digest.update(chunk if artifact.of_packed else data)
                file.write(data)
        except (*_BROKEN, requests.RequestException) as error:
            raise CloudUnavailableError(f"{artifact.location} is damaged: {error}") from None
    if digest.hexdigest() != artifact.checksum:
        raise CloudUnavailableError(
            f"{artifact.location} has the wrong checksum. Try again; if that does not help, "
            "look at what stands between this machine and the download."
        )


def read_text(url: str) -> str:
    """Return a text.

    Raises:
        CloudUnavailableError: It cannot be read.
    """
    with open_url(url) as answer:
        text: bytes = answer.raw.read(_LONGEST_TEXT, decode_content=True)
    return text.decode(errors="replace")


def read_json(url: str) -> Any:
    """Return what a JSON document holds.

    Raises:
        CloudUnavailableError: It cannot be read.
    """
    with open_url(url) as answer:
        try:
            return answer.json()
        except ValueError as error:
            raise CloudUnavailableError(f"{url} is no JSON: {error}") from None


def open_url(url: str) -> requests.Response:
    """Return an answer that is still to be read.

    Raises:
        CloudUnavailableError: Nobody answers, or with an error.
    """
    try:
        answer = requests.get(url, timeout=_TIMEOUT_SECONDS, stream=True)
        answer.raise_for_status()
    except requests.RequestException as error:
        raise CloudUnavailableError(f"{url} cannot be read: {error}") from None
    return answer
