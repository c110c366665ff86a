"""Routes about Mesos and Marathon, shared by all drivers that build them."""

from collections.abc import Mapping
from typing import Any, Self

from jeroboam.drivers.coe_api import Access, CoeApi, CoeCall, Route, Verb
from jeroboam.drivers.docker.client import EngineApi
from jeroboam.drivers.docker.listing import AtMost
from jeroboam.errors import ClusterUnreachableError
from jeroboam.models import Model


class AppView(Model):
    """An app of Marathon.

    Args:
        id: With a slash at the beginning, as ``/shop/web``.
        instances: How many tasks shall run.
        healthy: How many pass the app's health checks; 0 where it has none.
        cpus: Of one task.
        memory: Of one task, in MiB.
        deploying: Whether Marathon is changing it.
    """

    id: str
    instances: int
    running: int
    staged: int
    healthy: int
    unhealthy: int
    cpus: float
    memory: float
    image: str | None
    command: str | None
    version: str | None
    deploying: bool

    @classmethod
    def of(cls, app: Mapping[str, Any]) -> Self:
        """Read an app as Marathon's API shows it."""
        container = app.get("container") or {}
        return cls(
            id=app["id"],
            instances=app.get("instances") or 0,
            running=app.get("tasksRunning") or 0,
            staged=app.get("tasksStaged") or 0,
            healthy=app.get("tasksHealthy") or 0,
            unhealthy=app.get("tasksUnhealthy") or 0,
            cpus=app.get("cpus") or 0,
            memory=app.get("mem") or 0,
            image=(container.get("docker") or {}).get("image"),
            command=app.get("cmd"),
            version=app.get("version"),
            deploying=bool(app.get("deployments")),
        )


class AppList(Model):
    """The apps of a cluster, those that lack tasks first.

    Args:
        omitted: How many apps the limit has left out.
    """

    apps: tuple[AppView, ...]
    omitted: int


def list_apps(call: CoeCall, wish: AtMost) -> AppList:
    """Return the apps."""
    with EngineApi.of(call.api_address, call.context.read_secrets()) as api:
        answer = api.read("/v2/apps")
    listed = answer.get("apps") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise ClusterUnreachableError("Marathon answers with something else than apps.")
    found = [AppView.of(one) for one in listed]
    found.sort(key=lambda one: (one.running >= one.instances, one.id))
    left_out = max(0, len(found) - wish.limit)
    return AppList(apps=tuple(found[: wish.limit]), omitted=left_out)


MESOS_API = CoeApi(
    "mesos",
    (
        Route(
            Verb.GET,
            "apps",
            "apps",
            Access.READER,
            "List the apps of Marathon, those that lack tasks first.",
            AppList,
            list_apps,
            AtMost,
        ),
    ),
)
