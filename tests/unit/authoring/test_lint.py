"""What ``jeroboam driver lint`` finds, one thing at a time in an otherwise good driver."""

from pathlib import Path

import pytest

from jeroboam import drivers
from jeroboam.authoring.copying import copy_driver
from jeroboam.authoring.lint import lint
from jeroboam.authoring.names import DriverName
from jeroboam.drivers.registry import DriverRegistry
from jeroboam.errors import InvalidRequestError
from jeroboam.settings import Settings

NAME = "acme_first_v1"
SHIPPED = sorted(one.parent.name for one in Path(drivers.__path__[0]).glob("*_v*/driver.py"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    source = DriverRegistry.load(Settings()).installed("k8s_fedora_coreos_v1")
    return copy_driver(source, DriverName(NAME), tmp_path) / NAME


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_names_what_is_missing(folder: Path) -> None:
    """Without its manifest a folder is no driver."""
    (folder / "version.py").unlink()
    assert any("version.py" in finding.text for finding in lint(folder))


def test_names_the_line_that_does_not_import(folder: Path) -> None:
    """A driver that cannot be imported is told with file and line."""
    (folder / "driver.py").write_text("import no_such_module\n")
    (finding,) = lint(folder)
    assert "no_such_module" in finding.text
    assert "driver.py, line 1" in finding.text


def test_names_a_lie_about_the_version(folder: Path) -> None:
    """The version of the class is that of version.py."""
    edit(folder / "driver.py", "version = version.version", 'version = "1.2.3"')
    (finding,) = lint(folder)
    assert "1.2.3" in finding.text


def test_names_a_broken_template(folder: Path) -> None:
    """YAML that is none is told with the name of the file."""
    (folder / "templates" / "cluster.yaml").write_text("a: [\n")
    assert any("cluster.yaml" in str(finding) for finding in lint(folder))


def test_names_a_mapping_without_a_parameter(folder: Path) -> None:
    """Heat would refuse a value for a parameter that the template does not declare."""
    edit(folder / "templates" / "cluster.yaml", "  master_flavor:", "  master_flavour:")
    (finding,) = lint(folder)
    assert "does not declare the parameters: master_flavor." in finding.text


def test_names_an_output_that_nobody_gives(folder: Path) -> None:
    """An address that the template does not tell would be missing in every cluster."""
    edit(
        folder / "templates" / "cluster.yaml",
        "  api_address:\n    description",
        "  api:\n    description",
    )
    texts = [finding.text for finding in lint(folder)]
    assert any("the output 'api_address'" in text for text in texts)


def test_names_a_secret_that_heat_would_show(folder: Path) -> None:
    """What nodes are set up from holds keys."""
    path = folder / "templates" / "cluster.yaml"
    before = path.read_text()
    path.write_text(before.replace("hidden: true", "hidden: false"))
    assert path.read_text() != before
    assert any("hidden: true" in finding.text for finding in lint(folder))


def test_names_a_script_that_is_none(folder: Path) -> None:
    """A script that the shell cannot read is found here, not on a node."""
    (folder / "templates" / "bootstrap" / "extra.sh").write_text("#!/bin/bash\nif true; then\n")
    (finding,) = lint(folder)
    assert finding.path == "templates/bootstrap/extra.sh"


def test_names_a_missing_page(folder: Path) -> None:
    """Whoever operates the driver has to know how to come by an image."""
    (folder / "image" / "README.md").unlink()
    (finding,) = lint(folder)
    assert finding.path == "image/README.md"


def test_names_what_is_no_text(folder: Path) -> None:
    """Files that are kept with clusters are text."""
    (folder / "templates" / "units" / "bad.service").write_bytes(b"\xff\xfe")
    assert any(finding.path == "templates/units/bad.service" for finding in lint(folder))


def test_no_folder(tmp_path: Path) -> None:
    """A path that is no folder is an error that says what to give."""
    with pytest.raises(InvalidRequestError, match=r"driver\.py"):
        lint(tmp_path / "nowhere")


@pytest.mark.parametrize("name", SHIPPED)
def test_our_own(name: str) -> None:
    """The drivers that are shipped have nothing to mend."""
    assert lint(Path(drivers.__path__[0]) / name) == []
