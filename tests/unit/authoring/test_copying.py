"""New drivers: written whole, under their own names, and working at once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.authoring.copying import copy_driver, renamed
from jeroboam.authoring.lint import lint
from jeroboam.authoring.names import DriverName
from jeroboam.authoring.skeletons.example_python_v1.driver import ExamplePythonV1Driver
from jeroboam.drivers.base import ClusterDriver
from jeroboam.drivers.registry import DriverRegistry
from jeroboam.errors import InvalidRequestError
from jeroboam.settings import Settings

NEW = DriverName("acme_first_v1")
HEAT = "k8s_fedora_coreos_v1"


def installed(name: str) -> ClusterDriver:
    return DriverRegistry.load(Settings()).installed(name)


def test_a_new_driver_passes_its_own_tests(tmp_path: Path) -> None:
    """What ``driver new --engine python`` writes has a compliance suite, and passes it."""
    project = copy_driver(ExamplePythonV1Driver(), NEW, tmp_path)
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


@pytest.mark.parametrize("name", ["python", HEAT])
def test_a_copy_has_nothing_to_mend(name: str, tmp_path: Path) -> None:
    """The folder of a new driver is as ``driver lint`` wants it."""
    driver = ExamplePythonV1Driver() if name == "python" else installed(name)
    project = copy_driver(driver, NEW, tmp_path)
    assert lint(project / NEW.text) == []


def test_a_copy_names_its_source_nowhere(tmp_path: Path) -> None:
    """No name of the old driver is left, and the version begins anew."""
    texts = renamed(installed(HEAT), NEW)
    assert not [path for path, text in texts.items() if HEAT in path or HEAT in text]
    assert 'version = "1.0.0"' in texts["version.py"]
    assert "class AcmeFirstV1Driver(" in texts["driver.py"]
    assert "from . import template_def, version" in texts["driver.py"]
    assert texts["templates/cluster.yaml"]


def test_what_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    """A folder of that name is not touched."""
    (tmp_path / NEW.text).mkdir()
    with pytest.raises(InvalidRequestError, match="is there already"):
        copy_driver(ExamplePythonV1Driver(), NEW, tmp_path)
    assert list(tmp_path.iterdir()) == [tmp_path / NEW.text]
    assert list((tmp_path / NEW.text).iterdir()) == []


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    """A file where a directory should be is an error with its path."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidRequestError, match="cannot be written"):
        copy_driver(ExamplePythonV1Driver(), NEW, tmp_path / "file" / "below")


@pytest.mark.parametrize(
    "name",
    ["", "K8s_v1", "k8s-mine", "1st", "_k8s", "k8s__v1", "k8s_", "class", "jeroboam", "a" * 61],
)
def test_bad_names(name: str) -> None:
    """What cannot be a package's name is refused, with an example of what can."""
    with pytest.raises(InvalidRequestError):
        DriverName.read(name)


@given(st.from_regex(r"[a-z][a-z0-9]{0,8}(_[a-z0-9]{1,8}){0,4}", fullmatch=True))
def test_any_name_gives_a_class(name: str) -> None:
    """Whatever passes as a name gives a class and a variable that Python and shells accept."""
    read = DriverName(name)
    assert read.class_name.isidentifier()
    assert read.variable.isidentifier()
