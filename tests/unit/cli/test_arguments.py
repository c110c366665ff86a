"""What is typed becomes what is sent."""

import io
from pathlib import Path

import pytest
from hypothesis import given as sampled
from hypothesis import strategies as st

from jeroboam.cli.client.arguments import given, pairs, plain_values, secret_from, words
from jeroboam.cli.client.problems import UsageError


def test_given() -> None:
    """What nobody gave is left out; what is false or zero was given."""
    assert given(a=None, b=[], c=False, d=0, e="", f=["x"]) == {
        "c": False,
        "d": 0,
        "e": "",
        "f": ["x"],
    }


def test_words() -> None:
    """Words may be typed with hyphens and capitals."""
    assert words(["Soft-Reboot", " create "]) == ["soft_reboot", "create"]
    assert words(None) == []


@sampled(st.dictionaries(st.text(min_size=1).filter(lambda key: "=" not in key), st.text()))
def test_pairs(values: dict[str, str]) -> None:
    """Keys and values come through, whatever the value holds."""
    assert pairs([f"{key}={value}" for key, value in values.items()], "--label") == values


@pytest.mark.parametrize("texts", [["novalue"], ["=x"], [""], ["a=1", "a=2"]])
def test_wrong_pairs(texts: list[str]) -> None:
    """A pair without a key or an equals sign, or a key that is there twice, is refused."""
    with pytest.raises(UsageError, match="--label"):
        pairs(texts, "--label")


def test_plain_values() -> None:
    """Values are JSON where they can be, and text otherwise."""
    texts = {"a": "3", "b": "true", "c": '["x"]', "d": "plain text", "e": '"3"'}
    assert plain_values(texts) == {"a": 3, "b": True, "c": ["x"], "d": "plain text", "e": "3"}


def test_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret is the first line of a file or of standard input, without the line's end."""
    file = tmp_path / "secret"
    file.write_text("hunter2\r\nrest")
    assert secret_from(str(file)) == "hunter2"
    monkeypatch.setattr("sys.stdin", io.StringIO("hunter3\n"))
    assert secret_from("-") == "hunter3"
    assert secret_from(None) is None


@pytest.mark.parametrize("name", ["absent", ".", "binary"])
def test_secrets_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    """A file that is none is named."""
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="secret's file"):
        secret_from(str(tmp_path / name))
