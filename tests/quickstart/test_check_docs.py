"""The checker of the tutorial's commands."""

import os

import pytest

from quickstart.layout import Layout
from tools.check_docs import Example, Shell, check, examples, fitted, matches

PAGE = """
Text with `$ nothing`.

```console
$ export WHO=world
$ echo hello \\
>   $WHO
hello world
```

```sh
make never
```
"""


def test_examples_are_found() -> None:
    """Commands, continued ones too, are told from what they print; other blocks are left out."""
    assert list(examples(PAGE)) == [
        Example("export WHO=world", ""),
        Example("echo hello \\\n  $WHO", "hello world"),
    ]


def test_a_page_is_run_in_one_shell() -> None:
    """What a command exports holds for the next, and a true page is without complaint."""
    assert check(PAGE, Layout()) == []


def test_a_wrong_page_is_noticed() -> None:
    """Output that differs and commands that fail are both complained of."""
    page = "```console\n$ echo one\ntwo\n$ false\n$ true\n```\n"
    differs, fails = check(page, Layout())
    assert "one" in differs
    assert "exit code 1" in fails


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("", "", True),
        ("", "anything", False),
        ("a   b", "a b\n", True),
        ("a ... c", "a b\nb c", True),
        ("a\n...", "a\nb\nc", True),
        ("a\n...", "b", False),
        ("a.b", "axb", False),
    ],
)
def test_matching(expected: str, printed: str, same: bool) -> None:
    """Three dots stand for anything, and gaps for gaps."""
    assert matches(expected, printed) is same


def test_another_quickstart() -> None:
    """Paths and ports are those of the quickstart that is asked for."""
    command = "export A=$PWD/.devcloud/clouds.yaml B=127.0.0.1:15033"
    assert fitted(command, Layout()) == command
    assert (
        fitted(command, Layout("two", 16000))
        == "export A=$PWD/.devcloud-two/clouds.yaml B=127.0.0.1:16033"
    )


def test_a_shell_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that ends the shell, or never ends, is a failure and not a hang."""
    monkeypatch.setattr("tools.check_docs.COMMAND_SECONDS", 0.5)
    with Shell(os.environ) as shell:
        assert shell.run("sleep 30")[0] == 1
