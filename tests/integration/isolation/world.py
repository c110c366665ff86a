"""What the people of the matrix ask for: one of each kind of object, all of one owner."""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

from jeroboam.certificates import issue_cluster_secrets, to_mapping
from jeroboam.models import OperationState, Status, utc_now
from jeroboam.models.coe_wire import CoeRequest
from jeroboam.models.schedule import Doings, Schedule
from jeroboam.models.signing_wire import SigningRequest
from jeroboam.store import Cipher, Store
from tests.integration.api.cloud import PROJECT
from tests.integration.api.conftest import Service
from tests.integration.api.hooks import ALLOWED, SECRET
from tests.integration.api.test_operation_control import waiting_for_approval
from tests.integration.isolation.row import Row

MARKS = ("victim", PROJECT)
"""What stands in everything of the owner's, and in nothing that a stranger may see."""

_DEFAULTS = {
    "clusters": "cluster",
    "certificates": "cluster",
    "credentials": "cluster",
    "clustertemplates": "template",
    "nodegroups": "group",
    "operations": "operation",
    "schedules": "schedule",
    "hooks": "hook",
    "drivers": "driver",
    "quotas": "project",
}


@dataclass(frozen=True)
class Thing:
    """Something that a request can be about."""

    uuid: str
    name: str


class QuietSchedules:
    """Knows what Temporal would be told, and that it knows nothing; policy does not ask it."""

    async def try_sync(self, uuid: str) -> None:
        """Pass on nothing."""

    async def trigger(self, schedule: Schedule) -> None:
        """Start nothing."""

    async def doings(self, schedule: Schedule) -> Doings:
        """Return that nothing runs."""
        return Doings()

    async def next_times(self, schedule: Schedule) -> Sequence[datetime]:
        """Return one time."""
        return (utc_now(),)

    async def preview(self, schedule: Schedule) -> Sequence[datetime]:
        """Return one time."""
        return (utc_now(),)


class QuietCalls:
    """Answers for the engines in clusters, with the cluster's name."""

    async def call(self, request: CoeRequest, queue: str | None = None) -> bytes:
        """Return what a driver might."""
        return b'{"of": "victim"}'


class QuietSigner:
    """Signs nothing, and says so."""

    async def sign(self, request: SigningRequest) -> str:
        """Return what is no certificate."""
        return "unsigned"


@dataclass
class World:
    """The service, with what the owner has made, which can be had back as it was."""

    service: Service
    things: dict[str, Thing] = field(default_factory=dict)

    async def build(self, engines: Sequence[str]) -> None:
        """Make everything, over HTTP.

        Args:
            engines: Of these there is a cluster whose driver adds routes.
        """
        await self._templates()
        await self._clusters(engines)
        await self._others()
        self.things |= {
            "driver": Thing("fake", "fake"),
            "project": Thing(PROJECT, PROJECT),
            "resource": Thing("Cluster", "Cluster"),
        }

    def keep(self) -> None:
        """Keep everything as it is now."""
        _copy(self._file, self._kept)

    def restore(self) -> None:
        """Have everything back as it was kept."""
        _copy(self._kept, self._file)

    async def ask(self, row: Row, token: str | None, *, by_name: bool = False) -> httpx.Response:
        """Send the request of a row."""
        return await self.service.call(
            row.method,
            self._path(row, by_name=by_name) + self._filled(row.query, by_name=by_name),
            token=token,
            **({} if row.body is None else {"json": self._filled(row.body, by_name=by_name)}),
        )

    @property
    def _file(self) -> Path:
        return self.service.settings.state_directory / "jeroboam.sqlite"

    @property
    def _kept(self) -> Path:
        return self.service.settings.state_directory / "kept.sqlite"

    async def _templates(self) -> None:
        for name, thing in (("victim-template", "template"), ("victim-newer", "newer")):
            made = await self.service.template(name=name)
            self.things[thing] = Thing(made["uuid"], name)
        unused = await self.service.template(name="victim-unused")
        self.things["unused"] = Thing(unused["uuid"], "victim-unused")
        shared = await self.service.template("operator-token", name="shared", public=True)
        self.things["shared"] = Thing(shared["uuid"], "shared")

    async def _clusters(self, engines: Sequence[str]) -> None:
        service, template = self.service, self.things["template"].uuid
        cluster = await service.built(template=template, name="victim-cluster")
        self.things["cluster"] = Thing(cluster, "victim-cluster")
        await self._certify(cluster)
        self.things["operation"] = Thing(service.operations.started[-1].uuid, "")
        path = f"/v1/clusters/{cluster}/nodegroups"
        answer = await service.call("POST", path, json={"name": "victim-group"})
        assert answer.status_code == 202, answer.text
        self.things["group"] = Thing(answer.json()["uuid"], "victim-group")
        await service.finish(cluster)
        for engine in engines:
            name = f"victim-{engine}"
            image = await service.template(name=f"{name}-template", image_id=f"{engine}-image")
            uuid = await service.built(template=image["uuid"], name=name)
            self.things[engine] = Thing(uuid, name)

    async def _certify(self, cluster: str) -> None:
        """Store secrets as a worker does; the API itself has no key for them."""
        url = self.service.settings.resolved_database_url
        worker = await Store.open(url, cipher=Cipher(bytes(32)))
        made = issue_cluster_secrets("victim-cluster")
        await worker.secrets.put_if_absent(cluster, to_mapping(made))
        await worker.close()
        # The fake driver needs no trust; with one, its credential can be rotated.
        with sqlite3.connect(self._file) as database:
            database.execute("UPDATE clusters SET trust_id = ? WHERE uuid = ?", ("trust", cluster))

    async def _others(self) -> None:
        await self._operations()
        cluster = self.things["cluster"].uuid
        timetable = {"kind": "check_health", "cron": "0 3 * * *", "cluster_id": cluster}
        schedule = await self._make("/v1/schedules", {"name": "victim-schedule"} | timetable)
        self.things["schedule"] = Thing(schedule["uuid"], "victim-schedule")
        await self._make("/v1/quotas", {"project_id": PROJECT, "hard_limit": 50}, "operator-token")
        hook = {"source": "webhook", "url": f"{ALLOWED}/x", "phases": ["after"], "secret": SECRET}
        made = await self._make("/v1/hooks", {"name": "victim-hook"} | hook, "operator-token")
        self.things["hook"] = Thing(made["uuid"], "victim-hook")
        window = {"start": "03:00", "duration_minutes": 60}
        path = f"/v1/clusters/{cluster}/maintenance_window"
        answer = await self.service.call("PUT", path, json=window)
        assert answer.status_code == 200, answer.text

    async def _operations(self) -> None:
        service, template = self.service, self.things["template"].uuid
        busy = await service.cluster(template, name="victim-busy")
        (operation,) = await service.store.operations.active(busy)
        self.things |= {"busy": Thing(busy, "victim-busy"), "at work": Thing(operation.uuid, "")}
        failed = await service.cluster(template, name="victim-failed")
        self.things["failed"] = Thing((await service.fail(failed)).uuid, "")
        stopped = await service.cluster(template, name="victim-stopped")
        (cancelled,) = await service.store.operations.active(stopped)
        await service.apply(
            cancelled, state=OperationState.CANCELLED, cluster_status=Status.CREATE_FAILED
        )
        self.things["cancelled"] = Thing(cancelled.uuid, "")
        waiting = await waiting_for_approval(service)
        self.things["waiting"] = Thing(waiting.uuid, "")
        kept = await service.store.operations.get(waiting.uuid)
        assert kept.plan
        step = kept.plan.steps[0].name
        token = service.app.state.dependencies.hooks.callbacks.url(waiting.uuid, step)
        self.things["token"] = Thing(token.rpartition("/")[2], "")

    async def _make(self, path: str, body: Any, token: str = "member-token") -> dict[str, Any]:
        answer = await self.service.call("POST", path, json=body, token=token)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def _path(self, row: Row, *, by_name: bool) -> str:
        parts = row.path.split("/")
        for place, part in enumerate(parts):
            if part.startswith("{"):
                name = part.strip("{}")
                default = _DEFAULTS.get(parts[place - 1], name)
                parts[place] = self._ident(row.about.get(name, default), by_name=by_name)
        return "/".join(parts)

    def _filled(self, body: Any, *, by_name: bool) -> Any:
        if isinstance(body, Mapping):
            return {key: self._filled(value, by_name=by_name) for key, value in body.items()}
        if isinstance(body, list):
            return [self._filled(value, by_name=by_name) for value in body]
        if isinstance(body, str):
            return re.sub("<([^<>]+)>", lambda found: self._ident(found[1], by_name=by_name), body)
        return body

    def _ident(self, thing: str, *, by_name: bool) -> str:
        found = self.things.get(thing)
        assert found, f"There is no '{thing}' in the world; add it in world.py, or say 'about'."
        if by_name and found.name:
            return found.name
        return found.uuid


def _copy(source: Path, target: Path) -> None:
    """Copy a database, also one that is open."""
    one, other = sqlite3.connect(source), sqlite3.connect(target)
    try:
        one.backup(other)
    finally:
        one.close()
        other.close()
