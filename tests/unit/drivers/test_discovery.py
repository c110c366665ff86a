"""Drivers are found in packages and in a directory; a bad one harms nobody else."""

import sys
import time
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from jeroboam.drivers import discovery
from jeroboam.drivers.registry import DriverRegistry
from jeroboam.errors import ConfigurationError, DriverNotFoundError
from jeroboam.models.driver_files import MOST_BYTES
from jeroboam.settings import Settings
from tests.dropins import DRIVER, VERSION, put_driver

Load = Callable[..., DriverRegistry]

BASE = "from jeroboam.drivers.base import ClusterDriver, Provides\n"
TWICE = DRIVER.replace("provides = (", "provides = 2 * (")
NOTHING = DRIVER.replace("provides = (", "provides = () and (")
LATE = DRIVER + "        raise SystemExit(3)\n"
INCOMPLETE = (
    BASE
    + """
class Incomplete(ClusterDriver):
    name = "broken_driver"
    version = "1.0.0"
    provides = (Provides(server_type="vm", os="fake", coe="kubernetes"),)
"""
)

BROKEN = {
    "does not compile": ({"driver.py": "def ("}, "SyntaxError"),
    "imports what is not there": ({"driver.py": "import not_installed_anywhere"}, "not_installed"),
    "misses methods": ({"driver.py": INCOMPLETE}, "create_cluster"),
    "fails when it is made": ({"driver.py": DRIVER + "        1 / 0\n"}, "ZeroDivisionError"),
    "ends the process": ({"driver.py": LATE}, "SystemExit"),
    "defines no driver": ({"driver.py": BASE}, "must define one ClusterDriver"),
    "has a broken template": ({"templates/node.yaml": "setup: ["}, "node.yaml"),
    "has a template without sense": ({"templates/node.yaml": "a: 1"}, "has no text 'setup'"),
    "has a file that is too large": ({"templates/big": "x" * MOST_BYTES}, "bytes together"),
    "names a kind twice": ({"driver.py": TWICE}, "twice: kubernetes on fake"),
    "names no kind": ({"driver.py": NOTHING}, "names no kind"),
    "has no version": (
        {"version.py": VERSION.format(name="broken_driver", version="one")},
        "no semantic version",
    ),
    "has another name": (
        {"version.py": VERSION.format(name="other", version="1.0.0")},
        "calls itself 'other'",
    ),
    "lies about its version": (
        {"driver.py": DRIVER.replace("version = version.version", 'version = "2.0.0"')},
        "version.py says broken_driver 1.0.0",
    ),
}


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def load(**settings: Any) -> DriverRegistry:
        return DriverRegistry.load(Settings(drivers_directory=tmp_path, **settings))

    return load


def reason(registry: DriverRegistry, name: str) -> str:
    (found,) = (one.reason for one in registry.broken() if one.name == name)
    return found


def test_folder_is_a_driver(load: Load, tmp_path: Path) -> None:
    """A folder in the directory is found beside what is installed, with its version and files."""
    folder = put_driver(tmp_path, "pretend_v1", setup="mine")
    registry = load()
    entry = registry.entry("pretend_v1")
    assert (entry.driver.version, entry.source.folder) == ("1.0.0", folder)
    assert entry.files
    assert entry.files.contents == {"node.yaml": "setup: mine\n"}
    assert "pretend_v1" not in {one.name for one in registry.broken()}
    assert str(registry.entry("fake").source).startswith("jeroboam ")
    assert not any(name.startswith("pretend_v1") for name in sys.modules)


def test_no_directory(tmp_path: Path) -> None:
    """The directory need not be there."""
    registry = DriverRegistry.load(Settings(drivers_directory=tmp_path / "none"))
    assert "fake" in registry.names


@pytest.mark.parametrize("trouble", BROKEN)
def test_broken_driver_is_contained(load: Load, tmp_path: Path, trouble: str) -> None:
    """Whatever is wrong with a driver is said in one line, and the others can be used."""
    files, expected = BROKEN[trouble]
    formatted = {path: text.replace("{os}", "fake") for path, text in files.items()}
    put_driver(tmp_path, "broken_driver", files=formatted)
    put_driver(tmp_path, "good_v1")
    with capture_logs() as logs:
        registry = load()
    assert expected in reason(registry, "broken_driver")
    assert "\n" not in reason(registry, "broken_driver")
    assert {"good_v1", "fake"} <= {entry.driver.name for entry in registry.entries()}
    lines = [line for line in logs if line["event"] == "driver_broken"]
    mine = [line["log_level"] for line in lines if line["driver"] == "broken_driver"]
    assert mine == ["error"]
    with pytest.raises(DriverNotFoundError, match="jeroboam driver show broken_driver"):
        registry.get("broken_driver")


def test_a_driver_without_its_extra_is_not_installed(load: Load, tmp_path: Path) -> None:
    """Whoever does not use it is not alarmed; whoever asks is told what to install."""
    raised = '        raise errors.DriverNotInstalledError("Install it with: pip install extra")\n'
    text = "from jeroboam import errors\n" + DRIVER.replace("{os}", "fake") + raised
    put_driver(tmp_path, "lacking_v1", files={"driver.py": text})
    with capture_logs() as logs:
        registry = load()
    (found,) = (one for one in registry.broken() if one.name == "lacking_v1")
    assert (found.not_installed, "pip install extra" in found.reason) == (True, True)
    assert "lacking_v1 (not installed)" in registry.listed
    mine = [line for line in logs if line.get("driver") == "lacking_v1"]
    assert [(line["event"], line["log_level"]) for line in mine] == [
        ("driver_not_installed", "info")
    ]


def test_hanging_driver_is_left_behind(load: Load, tmp_path: Path) -> None:
    """A driver that hangs on import is reported after its time, and the others are loaded."""
    put_driver(tmp_path, "a_hanging", files={"driver.py": "import time\ntime.sleep(120)\n"})
    put_driver(tmp_path, "good_v1")
    started = time.monotonic()
    registry = load(driver_load_seconds=5.0)
    assert time.monotonic() - started < 60
    assert reason(registry, "a_hanging") == "It was not loaded within 5 s: it hangs."
    assert registry.installed("good_v1")


def test_major_version_is_in_the_name(load: Load, tmp_path: Path) -> None:
    """Two major versions are two drivers, side by side; one that changes its own is refused."""
    put_driver(tmp_path, "pretend_v1", version="1.9.0")
    put_driver(tmp_path, "pretend_v2", version="2.0.0")
    put_driver(tmp_path, "pretend_v3", version="4.0.0")
    registry = load()
    assert {"pretend_v1", "pretend_v2"} <= {one.driver.name for one in registry.entries()}
    assert "call it pretend_v4" in reason(registry, "pretend_v3")


def test_folder_yields_to_a_package(load: Load, tmp_path: Path) -> None:
    """A folder with the name of an installed driver is refused; the installed one stays."""
    put_driver(tmp_path, "fake")
    registry = load()
    assert registry.entry("fake").source.folder is None
    assert "has this name already" in reason(registry, "fake")


def test_two_packages_of_a_name(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two packages that claim one name neither is taken."""
    group = discovery.NAMESPACE
    twins = [
        EntryPoint("twin", f"jeroboam.drivers.fake.driver:{name}", group)
        for name in ("FakeDriver", "FakeDriver")
    ]
    monkeypatch.setattr(discovery, "entry_points", lambda **_: twins)
    registry = load()
    assert registry.entries() == ()
    assert [one.name for one in registry.broken()] == ["twin", "twin"]
    assert "Several packages claim this name" in registry.broken()[0].reason


@pytest.mark.parametrize(
    "path", ["", "bad_v1", "bad_v1/driver.py", "bad_v1/templates", "bad_v1/templates/node.yaml"]
)
def test_what_others_can_write_is_refused(load: Load, tmp_path: Path, path: str) -> None:
    """A file or folder that others can change is named, with the command that mends it."""
    put_driver(tmp_path, "bad_v1")
    (tmp_path / path).chmod((tmp_path / path).stat().st_mode | 0o020)
    registry = load()
    assert "bad_v1" not in {entry.driver.name for entry in registry.entries()}
    assert f"chmod go-w {tmp_path / path}".rstrip("/") in reason(registry, "bad_v1")


def test_parent_that_others_can_write_is_refused(tmp_path: Path) -> None:
    """Whoever can write above the directory could put another one in its place."""
    directory = tmp_path / "above" / "drivers"
    put_driver(directory, "bad_v1")
    (tmp_path / "above").chmod(0o777)
    registry = DriverRegistry.load(Settings(drivers_directory=directory))
    assert f"chmod go-w {tmp_path / 'above'}" in reason(registry, "bad_v1")


def test_links_are_refused(load: Load, tmp_path: Path) -> None:
    """A symbolic link could lead to what others can change."""
    folder = put_driver(tmp_path / "drivers", "linked_v1")
    (tmp_path / "elsewhere.py").write_text("")
    (folder / "template_def.py").symlink_to(tmp_path / "elsewhere.py")
    registry = DriverRegistry.load(Settings(drivers_directory=tmp_path / "drivers"))
    assert "template_def.py is a symbolic link" in reason(registry, "linked_v1")


def test_folder_of_another_user_is_refused(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What belongs to neither root nor the user of the process is refused."""
    folder = put_driver(tmp_path, "bad_v1")
    real = Path.lstat

    class Foreign:
        st_mode = real(folder).st_mode
        st_uid = 4242

    monkeypatch.setattr(Path, "lstat", lambda path: Foreign if path == folder else real(path))
    assert "belongs to the user 4242" in reason(load(), "bad_v1")


def test_unknown_name_in_the_settings(load: Load, tmp_path: Path) -> None:
    """A typing error ends the start with all names, those of broken drivers marked."""
    put_driver(tmp_path, "bad_v1", files={"driver.py": "1/0"})
    with pytest.raises(ConfigurationError, match=r"typo\. Installed: bad_v1 \(broken\), fake"):
        load(enabled_drivers=("typo",))
    assert load(disabled_drivers=("bad_v1",)).broken()


def test_the_next_version_is_loaded_anew(load: Load, tmp_path: Path) -> None:
    """What was updated in its folder is what the next start loads."""
    put_driver(tmp_path, "pretend_v1", version="1.0.0", setup="old")
    old = load().entry("pretend_v1")
    put_driver(tmp_path, "pretend_v1", version="1.1.0", setup="new")
    new = load().entry("pretend_v1")
    assert (old.driver.version, new.driver.version) == ("1.0.0", "1.1.0")
    assert old.files
    assert new.files
    assert old.files.digest != new.files.digest
