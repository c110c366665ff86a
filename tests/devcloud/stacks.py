"""Heat stacks, as the tests handle them."""

import time
import uuid
from typing import Any

from keystoneauth1.plugin import BaseAuthPlugin
from keystoneauth1.session import Session
from openstack.connection import Connection

from devcloud import Devcloud
from tests import logins


def connect_to(devcloud: Devcloud, name: str) -> Connection:
    """Log in as one of the users of clouds.yaml."""
    return connected(logins.password(devcloud, name))


def connected(auth: BaseAuthPlugin) -> Connection:
    """Return a connection for any kind of login."""
    return Connection(session=Session(auth=auth), region_name="RegionOne")


def unique(name: str) -> str:
    """Return a name that no earlier run, finished or not, has left in the cloud."""
    return f"{name}-{uuid.uuid4().hex[:6]}"


class Stacks:
    """Makes stacks and removes them after the test."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.heat = connection.orchestration
        self._made: list[str] = []

    def create(self, name: str, template: dict[str, Any], **extra: Any) -> str:
        """Start to create a stack and return its id."""
        body = {"stack_name": unique(name), "template": template, "timeout_mins": 5, **extra}
        response = self.heat.post("/stacks", json={"disable_rollback": True, **body})
        assert response.status_code == 201, response.text
        stack: str = response.json()["stack"]["id"]
        self._made.append(stack)
        return stack

    def show(self, stack: str) -> dict[str, Any]:
        """Return a stack."""
        return dict(self.heat.get(f"/stacks/{stack}").json()["stack"])

    def settled(self, stack: str, seconds: float = 60) -> dict[str, Any]:
        """Wait until a stack is no longer in progress."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            shown = self.show(stack)
            if not shown["stack_status"].endswith("IN_PROGRESS"):
                return shown
            time.sleep(0.2)
        raise AssertionError(f"{shown['stack_status']} after {seconds} s: {self.resources(stack)}")

    def resources(self, stack: str, detail: str = "resource_status") -> dict[str, str]:
        """Return the status, or another detail, of each resource."""
        found = self.heat.get(f"{self._path(stack)}/resources").json()["resources"]
        return {one["resource_name"]: one[detail] for one in found}

    def until(self, stack: str, resource: str, status: str, seconds: float = 30) -> None:
        """Wait until a resource has a status."""
        deadline = time.monotonic() + seconds
        while self.resources(stack).get(resource) != status:
            assert time.monotonic() < deadline, self.resources(stack)
            time.sleep(0.1)

    def until_known(self, stack: str, resource: str, seconds: float = 30) -> str:
        """Wait until Heat has noted the id of what it creates, and return the id."""
        deadline = time.monotonic() + seconds
        while True:
            known = self.resources(stack, "physical_resource_id").get(resource)
            if known:
                return known
            assert time.monotonic() < deadline, self.resources(stack)
            time.sleep(0.1)

    def outputs(self, stack: str) -> dict[str, Any]:
        """Return the outputs of a stack."""
        return {one["output_key"]: one["output_value"] for one in self.show(stack)["outputs"]}

    def patch(self, stack: str, **body: Any) -> None:
        """Update a stack, with the template that it has."""
        body = {"disable_rollback": True, "timeout_mins": 5, **body}
        response = self.heat.patch(self._path(stack), json=body)
        assert response.status_code == 202, response.text

    def delete(self, stack: str, seconds: float = 60) -> None:
        """Delete a stack and wait until it is gone."""
        shown = self.heat.get(f"/stacks/{stack}")
        if shown.status_code == 200:
            self.heat.delete(self._path(stack))
        deadline = time.monotonic() + seconds
        while shown.status_code == 200:
            status = shown.json()["stack"]["stack_status"]
            if status == "DELETE_COMPLETE":
                return
            assert status != "DELETE_FAILED", shown.text
            assert time.monotonic() < deadline, f"{stack} is still there: {shown.text}"
            time.sleep(0.2)
            shown = self.heat.get(f"/stacks/{stack}")

    def clean(self) -> None:
        """Delete all stacks of the test, all at a time."""
        for stack in self._made:
            if self.heat.get(f"/stacks/{stack}").status_code == 200:
                self.heat.delete(self._path(stack))
        for stack in self._made:
            self.delete(stack)

    def _path(self, stack: str) -> str:
        shown = self.show(stack)
        return f"/stacks/{shown['stack_name']}/{shown['id']}"
