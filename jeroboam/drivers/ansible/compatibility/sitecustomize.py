"""Python imports this at its start in the processes of playbooks, for the folder is on their path.

Modules of the collection openstack.cloud take it for granted that ``import openstack`` brings
``openstack.version`` along, which it does not with openstacksdk 4.22 and later.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class WithVersion(MetaPathFinder):
    """Finds openstacksdk once, so that its version is imported after it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where openstacksdk is; everything else is found by others."""
        if fullname != "openstack":
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            importlib.import_module("openstack.version")

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


sys.meta_path.insert(0, WithVersion())
