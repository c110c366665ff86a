"""A simulated node: makes the calls that a booted machine would make."""

import http
import json
import logging
import threading
import time
import urllib.error
import urllib.request
import uuid as uuids
from collections.abc import Callable
from typing import Any

from devcloud.faults import FaultFile
from devcloud.inside.userdata import Login, Signal, signals

LOG = logging.getLogger(__name__)

RETRY_SECONDS = 120.0
PAUSE_SECONDS = 1.0
ANSWER_SECONDS = 30.0


class Node(threading.Thread):
    """Boots for a while, then reports success to each wait condition in its user data."""

    def __init__(
        self,
        *,
        uuid: str,
        name: str,
        user_data: str,
        faults: FaultFile,
        boot_seconds: float,
        booted: Callable[[], None] = lambda: None,
        console: Callable[[str], None] = lambda _line: None,
    ) -> None:
        """Describe the node; ``start`` boots it.

        Args:
            uuid: Id of the server; also the id in each call, so that a condition which
                waits for several nodes counts them.
            name: Name of the server, for the fault rules.
            user_data: As Nova stores it or as Heat resolves it.
            faults: The rules to look at before calling.
            boot_seconds: Pause before the first call.
            booted: Called after the last call, also if that one failed.
            console: Takes what the machine prints, line by line.
        """
        super().__init__(name=f"node-{name}", daemon=True)
        self._uuid = uuid
        self._display_name = name
        self._user_data = user_data
        self._faults = faults
        self._boot_seconds = boot_seconds
        self._booted = booted
        self._console = console
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Forget what is left to do; the machine is gone."""
        self._cancelled.set()

    def run(self) -> None:
        """Boot."""
        try:
            calls = signals(self._user_data)
            if not self._cancelled.wait(self._boot_seconds):
                for call in calls:
                    self._report(call)
        except Exception:
            LOG.exception("Simulated node %s failed", self._display_name)
        if not self._cancelled.is_set():
            self._booted()

    def _report(self, call: Signal) -> None:
        status, reason = "SUCCESS", "simulated node"
        for fault in self._faults.fire("node", name=self._display_name):
            LOG.info("Fault %s concerns node %s", fault.id, self._display_name)
            if fault.action == "drop":
                return
            if fault.action == "delay" and self._cancelled.wait(fault.seconds):
                return
            if fault.action == "fail":
                status, reason = "FAILURE", fault.message
        # As a real node's id of the boot: what was reported after a rebuild can be told apart.
        boot = str(uuids.uuid4())
        body = {"status": status, "reason": reason, "id": self._uuid, "data": boot}
        if call.console:
            self._console(f"{call.console} {json.dumps(body)}")
            return
        deadline = time.monotonic() + RETRY_SECONDS
        while not self._cancelled.is_set():
            if self._post(call, body) or time.monotonic() > deadline:
                return
            self._cancelled.wait(PAUSE_SECONDS)

    def _post(self, call: Signal, body: dict[str, str]) -> bool:
        """Make one call; return False if it is worth another try."""
        try:
            token = _token(call.login) if call.login else call.token
            with _open(call.endpoint, body, {"X-Auth-Token": token}):
                LOG.info("Node %s reported %s", self._display_name, body["status"])
                return True
        except urllib.error.HTTPError as error:
            LOG.info("Node %s was answered %s", self._display_name, error.code)
            return error.code < http.HTTPStatus.INTERNAL_SERVER_ERROR
        except OSError as error:
            LOG.info("Node %s cannot reach Heat: %s", self._display_name, error)
            return False


def _token(login: Login) -> str:
    """Log in as a user of Heat's."""
    user = {"id": login.user_id, "password": login.password}
    identity = {"methods": ["password"], "password": {"user": user}}
    scope = {"project": {"id": login.project_id}}
    body = {"auth": {"identity": identity, "scope": scope}}
    with _open(
        f"{login.auth_url.rstrip('/').removesuffix('/v3')}/v3/auth/tokens", body, {}
    ) as answer:
        return str(answer.headers["X-Subject-Token"])


def _open(url: str, body: dict[str, Any], headers: dict[str, str]) -> Any:
    request = urllib.request.Request(  # noqa: S310 - only http URLs are recognised
        url,
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", **headers},
        method="POST",
    )
    return urllib.request.urlopen(request, timeout=ANSWER_SECONDS)  # noqa: S310
