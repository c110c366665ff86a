"""The tables in the documentation that are made from the code.

``python -m tests.unit.docs.tables`` writes them anew; a test checks that they are up to date.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

from fastapi.routing import APIRoute
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from jeroboam import errors
from jeroboam.api.http.app import ROUTERS
from jeroboam.api.http.errors import status_of
from jeroboam.drivers.fake.labels import Labels
from jeroboam.drivers.mesos import labels as mesos
from jeroboam.drivers.swarm import labels as swarm
from jeroboam.settings import Settings
from jeroboam.temporal import SEARCH_ATTRIBUTES
from tests.unit.docs import compatibility, label_tables, state_machine

DOCS = Path(__file__).parents[3] / "docs"
KUBERNETES_LABELS = "reference/labels-kubernetes.md"
SWARM_LABELS, MESOS_LABELS = "reference/labels-swarm.md", "reference/labels-mesos.md"

LONGEST_CHOICE = 4
"""Choices with more words than this are explained below their table."""

SETTINGS = {
    "certificate_renewal_days": "Certificate authorities of clusters that end within so many days "
    "are rotated by the schedule `renew-certificates`; 0 leaves that to the owners of clusters.",
    "state_directory": "Where embedded state lives: the SQLite file, the secrets key, the fake "
    "driver's clusters.",
    "database_url": "SQLAlchemy URL, `sqlite+aiosqlite:///FILE` or `postgresql+asyncpg://...`. "
    "Empty: a SQLite file in the state directory.",
    "secrets_key": "Base64 key of 32 bytes which encrypts stored secrets. Without it a key file "
    "is made in the state directory; all hosts must share one key.",
    "secrets_old_keys": "Keys that were `JEROBOAM_SECRETS_KEY` before, separated by commas, until "
    "`jeroboam secrets rotate-key` has ended.",
    "secret_store": "Where the secrets of clusters are kept: `database`, `files`, `barbican`, or "
    "what another package brings.",
    "secrets_directory": "The folder of the store `files`, which all workers share; by default "
    "`secrets` in the state directory.",
    "temporal_address": "Host and port of Temporal's front end.",
    "temporal_namespace": "Temporal namespace; it must exist.",
    "temporal_ui_url": "Where operators find the Temporal UI; used in links.",
    "task_queue": "Task queue of workflows and short steps; long waits use the same name with "
    "`-poll` appended.",
    "temporal_tls": "Whether to use TLS towards Temporal, with the system's certificates.",
    "temporal_api_key": "API key for Temporal.",
    "cloud": "Entry of `clouds.yaml` with the credentials of Jeroboam's service user.",
    "trustee_domain": "Name of the Keystone domain for the [users of programs in clusters]"
    "(../how-to/operate.md#users-for-programs-in-clusters); Magnum's `[trust] "
    "trustee_domain_name`. Empty: clusters with such programs are refused.",
    "cloud_timeout_seconds": "Longest time that one call to an OpenStack service may take.",
    "api_host": "Address that the API listens on.",
    "api_port": "Port that the API listens on; 9511 is Magnum's.",
    "api_public_url": "The API's URL as clients see it, used in links; by default made of host "
    "and port.",
    "policy_file": "oslo.policy file with rules that differ from the defaults.",
    "max_body_bytes": "Largest request body.",
    "request_seconds": "How long a client may take to send a request, or to read an answer.",
    "max_connections": "More connections than these are answered 503. Keep it below the limit of "
    "open files (`ulimit -n`).",
    "list_limit": "Most items in one answer of a list; Magnum's `[api] max_limit`.",
    "token_cache_seconds": "How long a token's validation is believed; a revoked token works that "
    "long. 0 asks Keystone for each request.",
    "grpc_host": "Address that the gRPC API listens on.",
    "grpc_port": "Port that the gRPC API listens on, by custom 9513; 0 turns it off.",
    "grpc_certificate_file": "Certificates for TLS of the gRPC API, the server's first, as PEM. "
    "Without them tokens travel as they are: keep it on the loopback interface.",
    "grpc_key_file": "Key of the first of those certificates, as PEM.",
    "worker_health_host": "Address of the worker's health end-point.",
    "worker_health_port": "Port of the worker's health end-point; 0 turns it off.",
    "shutdown_grace_seconds": "How long a stopping process waits for the steps or requests at "
    "hand.",
    "max_waiting_operations": "How many operations one worker waits for at a time.",
    "max_driver_threads": "How many calls of drivers and hooks run at a time in one process.",
    "poll_interval_seconds": "Time between two list calls of a poll hub.",
    "max_schedules_per_project": "The most schedules that a project may have.",
    "schedule_minimum_seconds": "The shortest time between two times of a schedule.",
    "certificate_days": "The longest that a certificate signed for a user is good, in days; "
    "Magnum's `[x509] term_of_validity`. None outlives its CA.",
    "certificate_organisations": "The organisations (groups of Kubernetes) that a certificate "
    "signed for a user may name, separated by commas; empty is all. With some named, only the CA "
    "`kubernetes` signs, and for no name that begins with `system:`.",
    "certificate_key_usages": "What a certificate signed for a user may be used for, separated by "
    "commas; Magnum's `[x509] allowed_key_usage`. Also possible: `data_encipherment`, "
    "`key_agreement`.",
    "certificate_extended_key_usages": "Likewise, of `server_auth`, `client_auth`, "
    "`code_signing`, `email_protection`; empty is all.",
    "hooks_file": "Hooks that the operator declares, as YAML; see the how-to on hooks.",
    "hooks_key": "Base64 key of 32 bytes for the secrets and callbacks of hooks. Without it a key "
    "file is made in the state directory; API and workers must share it.",
    "webhook_allowed": "Prefixes of the URLs that hooks may call, separated by commas; empty "
    "allows none.",
    "webhook_networks": "Networks that are not public and in which targets of webhooks may lie "
    "nevertheless, separated by commas.",
    "reconcile_interval_seconds": "Time between two rounds of the reconciler.",
    "monitor_interval_seconds": "How often each cluster is looked at; 0 is never.",
    "drain_patience_seconds": "How long a cluster that does not answer is asked before its nodes "
    "go as they are. 0 asks once, for workers that reach no cluster.",
    "enabled_drivers": "Drivers that may be used, separated by commas; empty means all that are "
    "installed.",
    "disabled_drivers": "Drivers that may not be used for new clusters, separated by commas.",
    "drivers_directory": "Holds drivers as folders, without packaging; it need not exist. Nobody "
    "but root, or the user of API and worker, may be able to write there.",
    "own_worker_drivers": "Drivers that run in workers of their own, `jeroboam worker --driver "
    "NAME`, separated by commas; API and other workers do not load them.",
    "driver_load_seconds": "How long a driver may take to be loaded at the start; after that it is "
    "reported as broken, and the others go on.",
    "max_clusters_per_project": "Magnum's `[quotas] max_clusters_per_project`.",
    "max_nodes_per_project": "The most nodes that all clusters of a project may have; empty is no "
    "limit. A [quota](http-api.md#quotas) of the project comes first, here and for the others.",
    "max_cores_per_project": "The most CPUs that these nodes may have, by their flavors.",
    "max_operations_per_project": "The most operations of a project that may be at work; deletes "
    "are never refused.",
    "log_level": "`DEBUG`, `INFO`, `WARNING` or `ERROR`.",
    "log_format": "`json`, or `console` for people.",
}


def settings() -> str:
    """Return the table of all settings."""
    rows = (
        (f"`JEROBOAM_{name.upper()}`", _type(field), _default(field), SETTINGS.get(name, ""))
        for name, field in Settings.model_fields.items()
    )
    return table(("Variable", "Type", "Default", "Meaning"), rows)


def fake_labels() -> str:
    """Return the table of the fake driver's labels."""
    meanings = _arguments(Labels)
    rows = (
        (f"`{name}`", _type(field), _default(field), meanings.get(name, ""))
        for name, field in Labels.model_fields.items()
    )
    return table(("Label", "Type", "Default", "Effect"), rows)


def error_classes() -> str:
    """Return the table of all errors, with what the API and the engine make of them."""
    rows = (
        (
            f"`{kind.__name__}`",
            str(status_of(kind.__new__(kind))),
            "yes" if kind.retryable else "no",
            " ".join(str(inspect.getdoc(kind)).partition("\n\n")[0].split()),
        )
        for kind in vars(errors).values()
        if inspect.isclass(kind) and issubclass(kind, errors.JeroboamError)
    )
    return table(("Error", "HTTP", "Tried again", "Meaning"), rows)


def compared_routes() -> str:
    """Return the table of what is compared with Magnum, by route."""
    heads = ("Route", "Facts", "Differences", "Real clients")
    return table(heads, compatibility.compared_routes())


def compatibility_differences() -> str:
    """Return the table of what differs from Magnum."""
    return table(("Request", "Jeroboam", "Magnum"), compatibility.differences())


def routes() -> str:
    """Return the table of the routes."""
    found = (route for router in ROUTERS for route in _of(router))
    rows = ((method, f"`{path}`", text.replace("``", "`")) for method, path, text in found)
    return table(("Method", "Path", "What it does"), rows)


def search_attributes() -> str:
    """Return the list of the search attributes."""
    return "\n".join(f"* `{key.name}`" for key in SEARCH_ATTRIBUTES)


def cluster_statuses() -> str:
    """Return the table of a cluster's statuses, with what may start in each."""
    return table(("Status", "What may start"), state_machine.statuses())


def operation_states() -> str:
    """Return the table of an operation's states."""
    head = ("State", "Meaning", "Has the cluster", "Can be retried")
    return table(head, state_machine.states())


def operation_kinds() -> str:
    """Return the table of the kinds of operation."""
    head = ("Kind", "Status of the cluster", "Rolled back when it fails", "Cancel")
    return table(head, state_machine.traits())


def operation_plans() -> str:
    """Return the table of the steps of each kind of operation."""
    head = ("Kind", "Steps", "Roll-back, in this order", "Deadline")
    return table(head, state_machine.plans())


def cancellations() -> str:
    """Return the table of what a cancellation does."""
    return table(("Kind", "Answer", "With `now`"), state_machine.cancellations())


TABLES: Mapping[str, tuple[str, Callable[[], str]]] = {
    "settings": ("reference/settings.md", settings),
    "fake-labels": ("fake-driver.md", fake_labels),
    "errors": ("reference/errors.md", error_classes),
    "compared-routes": ("reference/magnum-compatibility.md", compared_routes),
    "compatibility-differences": (
        "reference/magnum-compatibility.md",
        compatibility_differences,
    ),
    "compared-facts": ("reference/magnum-compatibility.md", compatibility.compared_facts),
    "routes": ("reference/http-api.md", routes),
    "kubernetes-labels": (KUBERNETES_LABELS, label_tables.kubernetes_labels),
    "kubernetes-label-differences": (KUBERNETES_LABELS, label_tables.differences),
    "kubernetes-retired-labels": (KUBERNETES_LABELS, label_tables.retired_labels),
    "swarm-labels": (SWARM_LABELS, lambda: label_tables.labels_of(swarm.TABLE)),
    "swarm-retired-labels": (SWARM_LABELS, swarm.TABLE.markdown_of_retired),
    "mesos-labels": (MESOS_LABELS, lambda: label_tables.labels_of(mesos.TABLE)),
    "mesos-retired-labels": (MESOS_LABELS, mesos.TABLE.markdown_of_retired),
    "cluster-drawing": ("state-machine.md", state_machine.cluster_drawing),
    "cluster-statuses": ("state-machine.md", cluster_statuses),
    "operation-drawing": ("state-machine.md", state_machine.operation_drawing),
    "operation-states": ("state-machine.md", operation_states),
    "operation-kinds": ("state-machine.md", operation_kinds),
    "operation-plans": ("state-machine.md", operation_plans),
    "cancellations": ("state-machine.md", cancellations),
    "search-attributes": ("how-to/operate.md", search_attributes),
}


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def section(name: str) -> re.Pattern[str]:
    """Return what matches the place of a table in its page."""
    return re.compile(
        rf"(?<=<!-- begin generated: {name} -->\n\n)(.*?)(?=<!-- end generated: {name} -->)",
        re.DOTALL,
    )


def write() -> None:
    """Write all tables anew."""
    for name, (page, make) in TABLES.items():
        path, content = DOCS / page, f"{make()}\n\n"
        path.write_text(section(name).sub(content.replace("\\", r"\\"), path.read_text()))


def _of(router: Any) -> Iterable[tuple[str, str, str]]:
    for route in router.routes:
        if isinstance(route, APIRoute):
            text = str(inspect.getdoc(route.endpoint) or "").partition("\n\n")[0]
            for method in sorted(route.methods or ()):
                yield method, route.path, text


def _type(field: FieldInfo) -> str:
    kind = field.annotation
    if get_origin(kind) is UnionType:
        kind = next(part for part in get_args(kind) if part is not NoneType)
    if get_origin(kind) is tuple:
        return "list"
    if inspect.isclass(kind) and issubclass(kind, Enum):
        if len(kind) > LONGEST_CHOICE:
            return "one of those below"
        return " or ".join(f"`{member.value}`" for member in kind)
    names: dict[Any, str] = {str: "text", int: "whole number", float: "number", bool: "boolean"}
    return {**names, Path: "path", SecretStr: "secret"}[kind]


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is None or value in ((), ""):
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _arguments(model: type[BaseModel]) -> Mapping[str, str]:
    """Return what a model's docstring says about its fields."""
    _, _, text = str(inspect.getdoc(model)).partition("Args:\n")
    found = re.findall(r"^    (\w+): (.+(?:\n {8,}.+)*)", text, re.MULTILINE)
    return {name: " ".join(meaning.split()) for name, meaning in found}


if __name__ == "__main__":
    write()
