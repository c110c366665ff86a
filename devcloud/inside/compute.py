"""A compute driver whose machines exist in name only, but do what booted ones would."""

import contextlib
import functools
import json
import threading
import time
from pathlib import Path
from typing import Any

from nova import context as nova_context
from nova import exception, objects
from nova.compute import power_state
from nova.virt import fake
from oslo_log import log

from devcloud.faults import FaultFile
from devcloud.inside import home
from devcloud.inside.node import Node

LOG = log.getLogger(__name__)


class SimulatedDriver(fake.FakeDriverWithoutFakeNodes):
    """Nova's fake driver, plus faults, plus nodes which call back.

    The plain ``FakeDriver`` invents another node identity in each process, and nova-compute
    then refuses to start a second time; hence the base class.
    """

    def __init__(self, virtapi: Any) -> None:
        """Find the devcloud that this compute service belongs to."""
        super().__init__(virtapi)
        layout = home.current()
        self._faults = FaultFile(layout.faults)
        self._boot_seconds = layout.settings.boot_seconds
        self._nodes_folder = layout.state / "nova" / "nodes"
        self._booting: dict[str, Node] = {}
        self._lock = threading.Lock()

    def init_host(self, host: str) -> None:
        """Remember the machines of an earlier process; they kept running meanwhile."""
        super().init_host(host)
        self._nodes_folder.mkdir(parents=True, exist_ok=True)
        context = nova_context.get_admin_context()
        for instance in objects.InstanceList.get_by_host(context, host, ["flavor"]):
            if instance.power_state in (power_state.RUNNING, power_state.SHUTDOWN):
                machine = fake.FakeInstance(instance.name, instance.power_state, instance.uuid)
                self.instances[instance.uuid] = machine
            if self._marker(instance.uuid).exists():
                self._boot(instance)

    def spawn(self, context: Any, instance: Any, *args: Any, **kwargs: Any) -> None:
        """Create a machine and let it boot, unless a fault is to happen."""
        for fault in self._faults.fire("server", name=instance.display_name):
            LOG.info("Fault %s concerns %s", fault.id, instance.display_name, instance=instance)
            if fault.action == "delay":
                time.sleep(fault.seconds)
            else:
                # Any other exception makes Nova try another host and report only that
                # there was none.
                raise exception.BuildAbortException(
                    instance_uuid=instance.uuid, reason=fault.message
                )
        super().spawn(context, instance, *args, **kwargs)
        self._boot(instance)

    def reboot(
        self, context: Any, instance: Any, network_info: Any, reboot_type: str, **kwargs: Any
    ) -> None:
        """Restart a machine, unless a fault is to happen; it was set up at its first boot.

        A machine that fails stays down: of one that runs all the same, Nova keeps the failure
        to itself.
        """
        for fault in self._faults.fire("reboot", name=instance.display_name):
            LOG.info("Fault %s concerns %s", fault.id, instance.display_name, instance=instance)
            if fault.action == "delay":
                time.sleep(fault.seconds)
            else:
                self.instances[instance.uuid].state = power_state.SHUTDOWN
                raise exception.InstanceRebootFailure(reason=fault.message)
        super().reboot(context, instance, network_info, reboot_type, **kwargs)

    def power_off(self, instance: Any, *args: Any, **kwargs: Any) -> None:
        """Stop a machine; one that a failed rebuild has left nothing of is off, as with libvirt.

        Nova takes the plain driver's answer for a deletion, and leaves the server in its state.
        """
        if instance.uuid in self.instances:
            super().power_off(instance, *args, **kwargs)

    def detach_interface(self, context: Any, instance: Any, vif: Any) -> None:
        """Take a port away, also one that was attached before this process began."""
        _ = context, instance
        self._interfaces.pop(vif["id"], None)

    def destroy(self, context: Any, instance: Any, *args: Any, **kwargs: Any) -> None:
        """Remove a machine; what it was about to do does not happen."""
        with self._lock:
            node = self._booting.pop(instance.uuid, None)
        if node:
            node.cancel()
        self._marker(instance.uuid).unlink(missing_ok=True)
        self._console(instance.uuid).unlink(missing_ok=True)
        super().destroy(context, instance, *args, **kwargs)

    def get_console_output(self, context: Any, instance: Any) -> str:
        """Return what the machine has printed since it was made."""
        _ = context
        with contextlib.suppress(FileNotFoundError):
            return self._console(instance.uuid).read_text(encoding="utf-8")
        return ""

    def _console(self, uuid: str) -> Path:
        return self._nodes_folder / f"{uuid}.console"

    def _print(self, uuid: str, line: str) -> None:
        with self._console(uuid).open("a", encoding="utf-8") as console:
            console.write(f"{line}\n")

    def _marker(self, uuid: str) -> Path:
        return self._nodes_folder / f"{uuid}.json"

    def _boot(self, instance: Any) -> None:
        """Boot in the background; a marker survives a restart of nova-compute."""
        if not instance.user_data:
            return
        marker = self._marker(instance.uuid)
        marker.write_text(json.dumps({"name": instance.display_name}), encoding="utf-8")

        def booted() -> None:
            marker.unlink(missing_ok=True)
            with self._lock:
                self._booting.pop(instance.uuid, None)

        node = Node(
            uuid=instance.uuid,
            name=instance.display_name,
            user_data=instance.user_data,
            faults=self._faults,
            boot_seconds=self._boot_seconds,
            booted=booted,
            console=functools.partial(self._print, instance.uuid),
        )
        with self._lock:
            self._booting[instance.uuid] = node
        node.start()
