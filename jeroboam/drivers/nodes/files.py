"""The files of a driver: its own folder and those that it shares with others. Pure but for files.

A driver's templates, manifests and scripts lie in several folders, so that what drivers have in
common exists once. A file of an earlier folder hides one of the same name in a later folder. All
files together can be listed, kept, and read from one other folder later on.
"""

from dataclasses import dataclass
from pathlib import Path

from jeroboam.errors import DriverContractError


@dataclass(frozen=True)
class Files:
    """Files by their names relative to the folders.

    Args:
        folders: The driver's own one first.
    """

    folders: tuple[Path, ...]

    def read(self, name: str) -> str:
        """Return a file's text.

        Raises:
            DriverContractError: There is no such file, or it is no text.
        """
        try:
            return self._path(name).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise DriverContractError(f"The driver's file {name} cannot be read: {error}") from None

    def names(self) -> tuple[str, ...]:
        """Return the names of all files, sorted."""
        found = {
            path.relative_to(folder).as_posix()
            for folder in self.folders
            for path in folder.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        return tuple(sorted(found))

    def texts(self) -> dict[str, str]:
        """Return all files: what has to be kept to build the same again."""
        return {name: self.read(name) for name in self.names()}

    def at(self, folder: Path) -> "Files":
        """Return the same files as they are in one folder, where ``texts`` were written to."""
        return Files((folder,))

    def _path(self, name: str) -> Path:
        for folder in self.folders:
            if (folder / name).is_file():
                return folder / name
        searched = ", ".join(str(folder) for folder in self.folders)
        raise DriverContractError(f"The driver has no file {name} in {searched}.")
