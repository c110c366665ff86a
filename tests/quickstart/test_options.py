"""The command line."""

import pytest

from quickstart.layout import CHECKOUT, Layout
from quickstart.options import parse


def test_defaults() -> None:
    """Without arguments it is the one quickstart of the checkout, which stays up."""
    options = parse([])
    assert options.layout == Layout("", 15000)
    assert not options.once
    assert options.layout.home == CHECKOUT / ".jeroboam"


def test_two_quickstarts_share_nothing_but_the_packages() -> None:
    """A name gives folders of its own, and another port base other ports."""
    one, two = parse([]).layout, parse(["--name", "two", "--port-base", "16000"]).layout
    assert one.home != two.home
    assert one.cloud_home != two.cloud_home
    assert one.cloud_venv == two.cloud_venv
    assert one.api_port != two.api_port


@pytest.mark.parametrize(
    "arguments",
    [
        ["--port-base", "80"],
        ["--port-base", "lots"],
        ["--port-base", "65535"],
        ["--name", "../../etc"],
        ["--name", "boot"],
        ["--name", ""],
        ["--nonsense"],
    ],
)
def test_nonsense_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """What makes no sense is refused with a line that names it."""
    with pytest.raises(SystemExit) as stopped:
        parse(arguments)
    assert stopped.value.code == 2
    assert arguments[0] in capsys.readouterr().err
