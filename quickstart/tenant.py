"""What a tenant of the cloud does: the command line for the deeds, the SDK for looking on."""

import asyncio
import os
import shlex
from collections.abc import Callable
from typing import Any

import openstack
from keystoneauth1.exceptions import ClientException
from openstack.config import OpenStackConfig

from quickstart.errors import QuickstartError
from quickstart.layout import CHECKOUT, Layout
from quickstart.programs import environment

CLOUD = "demo"
OPERATOR = "demo-admin"
"""Somebody who may know where an operation runs in Temporal."""

COMMAND_SECONDS = 120.0
REQUEST_SECONDS = 30.0
NESTED_DEPTH = 5

_NO_ANSWER = (openstack.exceptions.SDKException, ClientException, OSError)


class Tenant:
    """A user of the project ``demo``.

    Args:
        layout: Where ``clouds.yaml`` is.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._connections: dict[str, Any] = {}

    async def openstack(self, *arguments: str) -> str:
        """Run ``openstack``, as anyone would, and return what it prints.

        Raises:
            QuickstartError: With the command's own complaint.
        """
        process = await asyncio.create_subprocess_exec(
            str(self._layout.programs / "openstack"),
            *arguments,
            cwd=CHECKOUT,
            env=environment(self._layout) | {"OS_CLOUD": CLOUD},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = await asyncio.wait_for(process.communicate(), COMMAND_SECONDS)
        except TimeoutError:
            raise QuickstartError(f"{_shown(arguments)} gives no answer.") from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        text = output.decode(errors="replace").strip()
        if process.returncode:
            complaint = text.splitlines()[-1] if text else "it printed nothing"
            raise QuickstartError(f"{_shown(arguments)} failed: {complaint}")
        return text

    async def templates(self) -> set[str]:
        """Return the names of the cluster templates that the tenant sees."""
        return {template.name for template in await self._list("cluster_templates")}

    async def clusters(self) -> list[Any]:
        """Return the tenant's clusters."""
        return await self._list("clusters")

    async def cluster(self, ident: str) -> Any:
        """Return one cluster by name or uuid.

        Raises:
            QuickstartError: There is none, or the API does not say.
        """
        return await self._ask(lambda proxy: proxy.get_cluster(ident))

    async def latest_operation(self, cluster_id: str) -> dict[str, Any] | None:
        """Return the record of the latest operation on a cluster, with its steps.

        Raises:
            QuickstartError: The API does not say.
        """

        def ask(proxy: Any) -> dict[str, Any] | None:
            page = _body(proxy.get(f"/clusters/{cluster_id}/operations", params={"limit": 1}))
            latest = next(iter(page["operations"]), None)
            return _body(proxy.get(f"/operations/{latest['uuid']}")) if latest else None

        found: dict[str, Any] | None = await self._ask(ask)
        return found

    async def run_link(self, operation_id: str) -> str | None:
        """Return the page of the Temporal UI which shows an operation's run.

        Raises:
            QuickstartError: The API does not say.
        """
        record = await self._ask(
            lambda proxy: _body(proxy.get(f"/operations/{operation_id}")), OPERATOR
        )
        links = {link["rel"]: str(link["href"]) for link in record["links"]}
        return links.get("temporal")

    async def resources(self, stack_id: str) -> tuple[int, int]:
        """Return how many resources of a cluster's stack are complete, and how many it has."""
        try:
            found = await asyncio.to_thread(self._resources, stack_id)
        except _NO_ANSWER:
            # It is only for show: the API's answer decides.
            return 0, 0
        states = [one["resource_status"] for one in found]
        complete = [state for state in states if state.endswith("_COMPLETE")]
        # INIT_COMPLETE is Heat's word for what has not been begun.
        return len(complete) - complete.count("INIT_COMPLETE"), len(states)

    def _resources(self, stack_id: str) -> list[dict[str, Any]]:
        answer = self._connected().orchestration.get(
            f"/stacks/{stack_id}/resources", params={"nested_depth": NESTED_DEPTH}
        )
        resources: list[dict[str, Any]] = _body(answer)["resources"]
        return resources

    async def _list(self, what: str) -> list[Any]:
        found: list[Any] = await self._ask(lambda proxy: list(getattr(proxy, what)()))
        return found

    async def _ask(self, question: Callable[[Any], Any], cloud: str = CLOUD) -> Any:
        def ask() -> Any:
            return question(self._connected(cloud).container_infrastructure_management)

        try:
            return await asyncio.to_thread(ask)
        except _NO_ANSWER as error:
            raise QuickstartError(f"Jeroboam's API did not answer as it should: {error}") from error

    def _connected(self, name: str = CLOUD) -> Any:
        if name not in self._connections:
            config = OpenStackConfig(
                config_files=[str(self._layout.clouds_yaml)], load_envvars=False
            )
            cloud = config.get_one(name, api_timeout=REQUEST_SECONDS)
            self._connections[name] = openstack.connection.Connection(config=cloud)
        return self._connections[name]


def _body(answer: Any) -> dict[str, Any]:
    openstack.exceptions.raise_from_response(answer)
    body: dict[str, Any] = answer.json()
    return body


def _shown(arguments: tuple[str, ...]) -> str:
    return f"'openstack {shlex.join(arguments)}'"


def in_words(arguments: tuple[str, ...]) -> str:
    """Return the command as its user would type it, on one line."""
    return f"openstack {shlex.join(arguments)}"


def avoid_proxies() -> None:
    """Keep this process's own requests to loopback away from any proxy."""
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = ",".join(filter(None, (os.environ.get(name), "127.0.0.1")))
