"""What surrounds a driver's folder: packaging, tests, a page to begin with."""

from collections.abc import Mapping
from pathlib import Path
from string import Template

from jeroboam.authoring.names import DriverName
from jeroboam.drivers.base import ClusterDriver

_SKELETONS = Path(__file__).parent / "skeletons" / "project"
_ON_CLOUD = """\
The tests build clusters on a real cloud. `python -m devcloud start`, in a checkout of Jeroboam,
makes one on your machine; `eval "$(python -m devcloud env demo)"` there, and the tests find it."""
_WITHOUT = "The tests need no cloud: the clusters of this driver are files."


def surround(name: DriverName, driver: ClusterDriver) -> dict[str, str]:
    """Return the files of a project around a driver's folder, by relative path.

    Args:
        driver: That which the new one begins as.
    """
    kind = "cloud" if driver.uses_cloud else "python"
    words = {
        "NAME": name.text,
        "CLASS": name.class_name,
        "PROJECT": name.project,
        "TESTS": _ON_CLOUD if driver.uses_cloud else _WITHOUT,
        "LABELS": repr(_labels(driver)).replace("'", '"'),
    }
    return {
        "pyproject.toml": _filled("pyproject.toml.txt", words),
        "README.md": _filled("README.md.txt", words),
        f"tests/test_{name.text}.py": _filled(f"test_{kind}.py.txt", words),
    }


def _labels(driver: ClusterDriver) -> Mapping[str, str]:
    """Return labels with which nothing is refused: a lone master keeps its state in a volume."""
    table = getattr(driver, "labels", None)
    known = getattr(table, "labels", ())
    return {"etcd_volume_size": "1"} if "etcd_volume_size" in known else {}


def _filled(name: str, words: Mapping[str, str]) -> str:
    return Template((_SKELETONS / name).read_text()).substitute(words)
