"""The files of a driver that a cluster is built from, as one value with a digest. Pure.

They are kept with the cluster: an update of the driver changes what is installed, and not what
living clusters are resized and rebuilt with.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import PurePosixPath

from jeroboam.errors import DriverContractError
from jeroboam.models.base import Model

MOST_BYTES = 2 << 20
"""What the files of one version of a driver may have together: far above any set of templates."""


class DriverFiles(Model):
    """Texts by their path below the driver's folder of templates; get one from ``of``.

    Args:
        contents: By path, with ``/`` between its parts on every system.
    """

    contents: Mapping[str, str]

    @classmethod
    def of(cls, contents: Mapping[str, str]) -> "DriverFiles":
        """Return the files.

        Raises:
            DriverContractError: They are too large together, or a path leads out of the folder.
        """
        for path in contents:
            _check_path(path)
        files = cls(contents=dict(sorted(contents.items())))
        if len(files.archive) > MOST_BYTES:
            raise DriverContractError(
                f"Its files have {len(files.archive)} bytes together, and {MOST_BYTES} can be kept "
                "with a cluster. Leave out what is no template or script."
            )
        return files

    @classmethod
    def of_archive(cls, archive: bytes, digest: str) -> "DriverFiles":
        """Return the files of an archive.

        Raises:
            DriverContractError: It is not the archive with this digest.
        """
        if digest_of(archive) != digest:
            raise DriverContractError(f"The driver's files {digest} were changed where they lie.")
        return cls.of(json.loads(archive))

    @property
    def archive(self) -> bytes:
        """The files as bytes, the same for equal files."""
        plain = json.dumps(
            dict(sorted(self.contents.items())), ensure_ascii=False, separators=(",", ":")
        )
        return plain.encode()

    @property
    def digest(self) -> str:
        """SHA-256 of the archive, in hexadecimal."""
        return digest_of(self.archive)


def digest_of(archive: bytes) -> str:
    """Return the name under which an archive is kept."""
    return hashlib.sha256(archive).hexdigest()


def _check_path(path: str) -> None:
    parts = PurePosixPath(path).parts
    plain = "/".join(parts) == path and ".." not in parts
    if not plain or path.startswith("/") or "\0" in path or not parts:
        raise DriverContractError(f"'{path}' is no path below the driver's folder.")
