"""Mistral's API, as far as drivers need it.

Executions belong to Jeroboam's own project, so that no tenant sees their input, which holds the
secrets of clusters. Their actions have the rights of the cluster's owner and no others.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from keystoneauth1.session import Session

from jeroboam.drivers.base import CloudAccess
from jeroboam.drivers.mistral.executions import BEGUN, FIELDS, MARK, RUNNING, Execution
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import NotFoundError

SERVICE = "Mistral"
PAGE = 500

_TYPE = "workflowv2"
_TARGETS = frozenset({"compute", "network", "identity"})
_TEXT = {"Content-Type": "text/plain"}


class Mistral:
    """Workbooks and executions in Jeroboam's own project.

    Args:
        cloud: Where they are.
    """

    def __init__(self, cloud: CloudAccess) -> None:
        self._cloud = cloud
        self._session = cloud.service_session()

    def ensure_workbook(self, name: str, text: str) -> None:
        """Make a workbook known, unless there is one of the name."""
        try:
            self._call("GET", f"/workbooks/{name}")
        except NotFoundError:
            self._call("POST", "/workbooks", data=text.encode(), headers=_TEXT)

    def executions(self, description: str = MARK) -> list[Execution]:
        """Return executions of Jeroboam's, the newest first, page by page.

        Args:
            description: A part of their descriptions.
        """
        records = self._listed("executions", FIELDS, description=f"has:{description}")
        return [one for one in map(Execution.of, records) if one.cluster]

    def executions_at_work(self) -> set[str]:
        """Return ids of executions that get further by themselves.

        In them, or in those below them, is a task with an action that runs or that is waited for.
        One that is there and was never begun is none: who should begin it may have died.
        """
        running = self._listed("executions", ("id", "root_execution_id"), state=RUNNING)
        roots = {one["id"]: one.get("root_execution_id") or one["id"] for one in running}
        tasks = self._listed(
            "tasks", ("id", "type", "workflow_execution_id"), state=f"in:{','.join(BEGUN)}"
        )
        return {
            roots.get(task["workflow_execution_id"], task["workflow_execution_id"])
            for task in tasks
            if task["type"] == "ACTION"
        }

    def start(
        self, ident: str, workflow: str, order: Mapping[str, Any], description: str, owner: Session
    ) -> None:
        """Start an execution; one of the same id is left as it is.

        Args:
            owner: Session of the cluster's owner, with whose rights the actions work.
        """
        body = {
            "id": ident,
            "workflow_name": workflow,
            "input": {"order": order},
            "description": description,
        }
        self._call("POST", "/executions", json=body, headers=self._target(owner))

    def cancel(self, ident: str) -> None:
        """Stop an execution; actions that are at work end by themselves."""
        self._call("PUT", f"/executions/{ident}", json={"state": "CANCELLED"})

    def delete(self, ident: str) -> None:
        """Remove an execution that has ended; what does not exist is fine."""
        try:
            self._call("DELETE", f"/executions/{ident}")
        except NotFoundError:
            return

    def working_actions(self, ident: str) -> Sequence[str]:
        """Return the names of actions that are at work in an execution and those below it."""
        below = self._call("GET", "/executions", params={"root_execution_id": ident})
        found: list[str] = []
        for execution in [ident, *(one["id"] for one in below["executions"])]:
            tasks = self._call("GET", f"/executions/{execution}/tasks")["tasks"]
            for task in tasks:
                if task["type"] == "ACTION" and task["state"] not in {"SUCCESS", "ERROR"}:
                    found += self._running_in(task["id"])
        return found

    def _listed(self, kind: str, fields: Sequence[str], **wanted: str) -> list[dict[str, Any]]:
        """Return all records of a kind, the newest first, page by page."""
        found: list[dict[str, Any]] = []
        query = {
            **wanted,
            "fields": ",".join(("created_at", *fields)),
            "sort_keys": "created_at",
            "sort_dirs": "desc",
            "limit": str(PAGE),
        }
        while True:
            page = self._call("GET", f"/{kind}", params=query)[kind]
            found += page
            if len(page) < PAGE:
                return found
            query = {**query, "marker": page[-1]["id"]}

    def _running_in(self, task: str) -> list[str]:
        actions = self._call("GET", f"/tasks/{task}/action_executions")["action_executions"]
        return [str(one["name"]) for one in actions if one["state"] == "RUNNING"]

    def _target(self, owner: Session) -> dict[str, str]:
        """Return the headers that let actions work with other rights than the execution's."""
        with translate_cloud_errors("Keystone"):
            plugin: Any = owner.auth
            listed = plugin.get_access(owner).service_catalog.catalog
            token = owner.get_token()
            project = self._session.get_project_id()
            keystone = self._session.get_endpoint(
                service_type="identity",
                region_name=self._cloud.region,
                interface=self._cloud.interface,
            )
        catalogue = {
            "methods": ["token"],
            "catalog": [one for one in listed if one["type"] in _TARGETS],
        }
        return {
            "X-Target-Auth-Uri": str(keystone),
            "X-Target-Auth-Token": str(token),
            "X-Target-Project-Id": str(project),
            "X-Target-Region-Name": self._cloud.region or "",
            "X-Target-Service-Catalog": base64.b64encode(json.dumps(catalogue).encode()).decode(),
        }

    def _call(self, method: str, path: str, **arguments: Any) -> Any:
        where = {
            "service_type": _TYPE,
            "region_name": self._cloud.region,
            "interface": self._cloud.interface,
        }
        with translate_cloud_errors(SERVICE):
            answer = self._session.request(path, method, endpoint_filter=where, **arguments)
        return answer.json() if answer.content else {}
