"""Why a process ended is read out of its log."""

from pathlib import Path

import pytest

from quickstart.words import NOTHING, last_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", NOTHING),
        ("one\ntwo\n\n", "two"),
        ("jeroboam: The port is taken.\nstopping\n", "jeroboam: The port is taken."),
        (
            'Traceback (most recent call last):\n  File "x"\nImportError: no module\n',
            "ImportError: no module",
        ),
        (
            '{"level": "error", "event": "boot", "exception": "Trace\\nOSError: full"}\n{}',
            "boot: OSError: full",
        ),
        ('{"level": "warn", "msg": "slow"}\n', "slow"),
        ("{broken json\n", "{broken json"),
        ("[1, 2]\n", "[1, 2]"),
    ],
)
def test_last_words(tmp_path: Path, text: str, expected: str) -> None:
    """The last complaint is told, else the last line."""
    log = tmp_path / "process.log"
    log.write_text(text)
    assert last_words(log) == expected


def test_no_log(tmp_path: Path) -> None:
    """A process which never wrote anything left no message."""
    assert last_words(tmp_path / "none.log") == NOTHING


def test_long_lines_are_cut(tmp_path: Path) -> None:
    """One endless line does not fill the terminal."""
    log = tmp_path / "process.log"
    log.write_text("x" * 200_000)
    assert len(last_words(log)) == 300
