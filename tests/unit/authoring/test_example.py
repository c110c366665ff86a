"""The example of a driver outside of Jeroboam, as it lies in the repository."""

import shutil
from pathlib import Path
from typing import Any, cast

import pytest

from jeroboam.authoring.lint import lint
from jeroboam.drivers.registry import DriverRegistry
from jeroboam.settings import Settings
from jeroboam.testing.specs import make_spec
from jeroboam.testing.without_cloud import without_cloud

NAME = "k8s_hardened_v1"
FOLDER = Path(__file__).parents[3] / "examples" / NAME / NAME
HARDENED = (
    "/etc/sysctl.d/95-hardening.conf",
    "/etc/modprobe.d/hardening.conf",
    "/etc/ssh/sshd_config.d/10-hardening.conf",
)


@pytest.fixture
def registry(tmp_path: Path) -> DriverRegistry:
    """Drivers with the example dropped in, as an operator would do it."""
    copied = shutil.copytree(FOLDER, tmp_path / "drivers" / NAME)
    for path in (copied.parent, copied, *copied.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return DriverRegistry.load(Settings(drivers_directory=tmp_path / "drivers"))


def test_it_has_nothing_to_mend() -> None:
    """Authors read it, so it is as the tools want it."""
    assert lint(FOLDER) == []


def test_it_is_found_beside_the_others(registry: DriverRegistry) -> None:
    """Dropped in, it is chosen for its own images, and takes none from Ubuntu's driver."""
    chosen = {
        distro: registry.select(
            explicit=None,
            image_properties={"magnum_distro": distro},
            coe="kubernetes",
            server_type="vm",
        ).driver.name
        for distro in ("ubuntu", "ubuntu-hardened")
    }
    assert chosen == {"ubuntu": "k8s_ubuntu_v1", "ubuntu-hardened": NAME}


def test_all_nodes_are_hardened(registry: DriverRegistry) -> None:
    """Masters and workers get the files, beside all that Ubuntu's nodes get."""
    driver: Any = registry.installed(NAME)
    spec = make_spec(driver)
    for group in spec.node_groups:
        document = cast("str", driver.setup(without_cloud(spec), spec, group).user_data)
        assert [path for path in HARDENED if path not in document] == []
        assert "/etc/jeroboam/kubeadm-join.yaml" in document
