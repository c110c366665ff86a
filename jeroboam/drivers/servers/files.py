"""The files of drivers that make servers without Heat."""

from pathlib import Path

from jeroboam.drivers import k8s_ubuntu_v1, kubernetes, nodes
from jeroboam.drivers.nodes.files import Files


def on_ubuntu(folder: Path) -> Files:
    """Return a driver's own files, and those that set Ubuntu's nodes up.

    Args:
        folder: Of the driver's own templates.
    """
    packages = (k8s_ubuntu_v1.__file__, kubernetes.__file__, nodes.__file__)
    shared = (Path(package).parent / "templates" for package in packages if package)
    return Files((folder, *shared))
