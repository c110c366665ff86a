"""Entry points of packages that are really there, in a folder of the import path."""

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from jeroboam import plugins
from jeroboam.errors import DriverContractError

MODULE = """
class Good:
    pass

class Broken:
    def __init__(self):
        raise ValueError("no licence")
"""

Install = Callable[..., str]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return what installs packages with entry points, and tells their namespace."""

    def install(*packages: str) -> str:
        namespace = f"jeroboam.test_{uuid4().hex}"
        for entry in packages:
            module = f"plugin_{uuid4().hex}"
            (tmp_path / f"{module}.py").write_text(MODULE)
            metadata = tmp_path / f"{module}-1.0.dist-info"
            metadata.mkdir()
            (metadata / "METADATA").write_text(f"Name: {module}\nVersion: 1.0\n")
            line = f"{entry.replace('here', module)}\n"
            (metadata / "entry_points.txt").write_text(f"[{namespace}]\n{line}")
        monkeypatch.syspath_prepend(tmp_path)
        return namespace

    return install


def test_installed(install: Install) -> None:
    """Each entry point gives one instance, by its name."""
    found = plugins.load(install("one = here:Good", "two = here:Good"), "hook")
    assert {name: type(one).__name__ for name, one in found.items()} == {
        "one": "Good",
        "two": "Good",
    }


def test_nothing_installed() -> None:
    """A namespace that nobody uses is empty."""
    assert plugins.load(f"jeroboam.test_{uuid4().hex}", "hook") == {}


@pytest.mark.parametrize(
    ("entry", "reason"),
    [("odd = here:Broken", "no licence"), ("odd = absent_module:Absent", "absent_module")],
)
def test_broken(install: Install, entry: str, reason: str) -> None:
    """What cannot be loaded stops the start, and is named with its reason."""
    namespace = install("fine = here:Good", entry)
    with pytest.raises(
        DriverContractError, match=rf"^Driver 'odd' .* cannot be loaded: .*{reason}"
    ):
        plugins.load(namespace, "driver")


def test_two_of_a_name(install: Install) -> None:
    """Two packages may not claim one name: the order of loading never decides."""
    with pytest.raises(DriverContractError, match="Two packages claim one hook name"):
        plugins.load(install("same = here:Good", "same = here:Good"), "hook")
