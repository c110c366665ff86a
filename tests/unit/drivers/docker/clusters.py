"""Clusters of the drivers whose nodes run Docker, and their nodes after the first boot."""

import os
import subprocess
from pathlib import Path
from typing import Any

from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.heat.coe_driver import CoeHeatDriver
from jeroboam.drivers.mesos_ubuntu_v1.driver import MesosUbuntuDriver
from jeroboam.drivers.swarm_fedora_atomic_v1.driver import SwarmFedoraAtomicDriver
from jeroboam.models import ClusterSpec
from tests.fakes import NoCloud
from tests.unit.drivers.heat.clusters import make_spec, secrets
from tests.unit.drivers.heat.nodes import boot
from tests.unit.drivers.heat.sandbox import Sandbox

MASTERS = "10.0.0.4,10.0.0.5,10.0.0.6"


def swarm_spec(template: dict[str, Any] | None = None, **fields: Any) -> ClusterSpec:
    """Return a valid swarm."""
    made_from = {"coe": "swarm-mode", "cluster_distro": "fedora-atomic", "image_id": "atomic"}
    return make_spec(template={**made_from, **(template or {})}, driver="swarm", **fields)


def mesos_spec(template: dict[str, Any] | None = None, **fields: Any) -> ClusterSpec:
    """Return a valid cluster of Mesos."""
    made_from = {"coe": "mesos", "cluster_distro": "ubuntu", "image_id": "ubuntu"}
    return make_spec(template={**made_from, **(template or {})}, driver="mesos", **fields)


DRIVERS: dict[str, tuple[type[CoeHeatDriver], Any]] = {
    "swarm": (SwarmFedoraAtomicDriver, swarm_spec),
    "mesos": (MesosUbuntuDriver, mesos_spec),
}


def user_data(coe: str, role: str, **fields: Any) -> str:
    """Return what Heat gets for the nodes of a role."""
    driver, make = DRIVERS[coe]
    context = DriverContext("c:o:s", NoCloud(), secrets)
    return str(driver().facts(context, make(**fields), 60)[f"{role}_setup"].user_data)


def document(
    coe: str, role: str, values: dict[str, str] | None = None, **fields: Any
) -> dict[str, Any]:
    """Return what a node reads at its first boot."""
    found = {"__MASTER_ADDRESSES__": MASTERS.split(",", maxsplit=1)[0], **(values or {})}
    return boot(user_data(coe, role, **fields), **found)


def node(
    folder: Path, coe: str, role: str, values: dict[str, str] | None = None, **fields: Any
) -> Sandbox:
    """Return a node that has its files, and has run nothing yet."""
    sandbox = Sandbox.of(folder, document(coe, role, values, **fields))
    sandbox.program("uname", "#!/bin/sh\necho x86_64\n")
    sandbox.program("docker")
    return sandbox


def keeps_trying(sandbox: Sandbox, script: str, seconds: float = 2) -> bool:
    """Whether a script is still at it after a while; it is ended then."""
    environment = {
        "PATH": f"{sandbox.programs}:{os.environ['PATH']}",
        "SANDBOX": str(sandbox.folder),
        "JEROBOAM_ROOT": str(sandbox.folder / "root"),
        "JEROBOAM_PAUSE": "1",
    }
    command = ["bash", str(sandbox.path(f"/usr/local/lib/jeroboam/{script}"))]
    try:
        subprocess.run(command, env=environment, timeout=seconds, check=False, capture_output=True)
    except subprocess.TimeoutExpired:
        return True
    return False
