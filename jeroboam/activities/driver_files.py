"""Puts the files that a cluster was built from into a folder, where its driver finds them."""

import asyncio
import shutil
from pathlib import Path
from tempfile import mkdtemp

from jeroboam.drivers import folders
from jeroboam.errors import DriverContractError, NotFoundError
from jeroboam.models import Cluster, DriverFiles
from jeroboam.store import Store


class FileCache:
    """Folders by the digest of what is in them; any number of processes may share one directory.

    Args:
        store: Where the files are kept.
        directory: Where the folders lie; it may be removed while no worker runs.
    """

    def __init__(self, store: Store, directory: Path) -> None:
        self._store = store
        self._directory = directory
        self._verified: set[str] = set()

    async def folder(self, cluster: Cluster) -> Path | None:
        """Return the folder with a cluster's files; ``None`` if none are kept with it.

        Raises:
            DriverContractError: They are lost or were changed.
            StoreUnavailableError: The database does not answer.
        """
        digest = cluster.driver_files
        if digest is None:
            return None
        folder = self._directory / digest
        if digest in self._verified and folder.is_dir():
            return folder
        if not await asyncio.to_thread(_is_whole, folder, digest):
            await asyncio.to_thread(_write, await self._files(cluster, digest), folder)
        self._verified.add(digest)
        return folder

    async def _files(self, cluster: Cluster, digest: str) -> DriverFiles:
        try:
            return await self._store.driver_files.get(digest)
        except NotFoundError as error:
            raise DriverContractError(
                f"{error.message} Cluster {cluster.name} was built from them by version "
                f"{cluster.driver_version} of the driver {cluster.driver}. Upgrade the cluster: "
                "that moves it to the files which are installed."
            ) from error


def _is_whole(folder: Path, digest: str) -> bool:
    """Return whether a folder has what its name says; somebody may have changed it."""
    if not folder.is_dir():
        return False
    try:
        return DriverFiles.of(folders.texts(folder)).digest == digest
    except DriverContractError:
        return False


def _write(files: DriverFiles, folder: Path) -> None:
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = Path(mkdtemp(dir=folder.parent, prefix=".new-"))
    try:
        for name, text in files.contents.items():
            path = fresh / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        _put_in_place(fresh, folder, files.digest)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _put_in_place(fresh: Path, folder: Path, digest: str) -> None:
    """Give a folder its name; another process may do the same at this moment."""
    if folder.is_dir() and not _is_whole(folder, digest):
        spoilt = Path(mkdtemp(dir=folder.parent, prefix=".old-"))
        folder.rename(spoilt / folder.name)
        shutil.rmtree(spoilt, ignore_errors=True)
    try:
        fresh.rename(folder)
    except OSError:
        if not _is_whole(folder, digest):
            raise
