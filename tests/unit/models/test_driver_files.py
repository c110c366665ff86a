"""A driver's files are one value, and its digest names nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.errors import DriverContractError
from jeroboam.models.driver_files import MOST_BYTES, DriverFiles

NAMES = st.text(st.sampled_from("abc-_"), min_size=1, max_size=4)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(PATHS, TEXTS))
def test_archive_holds_all(contents: dict[str, str]) -> None:
    """What comes out of an archive is what went in, whatever order it was given in."""
    files = DriverFiles.of(contents)
    turned = DriverFiles.of(dict(reversed(list(contents.items()))))
    assert turned.digest == files.digest
    assert DriverFiles.of_archive(files.archive, files.digest).contents == contents


@given(st.dictionaries(PATHS, TEXTS, min_size=1), st.dictionaries(PATHS, TEXTS, min_size=1))
def test_digest_names_one_content(one: dict[str, str], other: dict[str, str]) -> None:
    """Two sets of files have one digest only if they are equal."""
    assert (DriverFiles.of(one).digest == DriverFiles.of(other).digest) is (one == other)


def test_changed_archive_is_refused() -> None:
    """An archive that is not what its digest says is not used."""
    files = DriverFiles.of({"a": "1"})
    with pytest.raises(DriverContractError, match="were changed"):
        DriverFiles.of_archive(files.archive + b" ", files.digest)


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a\0b"])
def test_path_stays_in_the_folder(path: str) -> None:
    """A path that leads out of the folder, or has two spellings, is refused."""
    with pytest.raises(DriverContractError, match="no path below"):
        DriverFiles.of({path: ""})


def test_size_is_bounded() -> None:
    """Nobody fills the database with images."""
    DriverFiles.of({"a": "x" * (MOST_BYTES - 100)})
    with pytest.raises(DriverContractError, match="bytes together"):
        DriverFiles.of({"a": "x" * MOST_BYTES})
