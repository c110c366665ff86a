"""``jeroboam cluster import``: clusters that Magnum has built."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from jeroboam.cli.client.arguments import given
from jeroboam.cli.client.commands import Run, command
from jeroboam.cli.client.output import Screen, table_of
from jeroboam.cli.client.problems import UsageError

LARGEST_FILE = 20_000

FINDING_COLUMNS = ("what", "value", "complete")
OPERATION_COLUMNS = ("operation", "possible", "reason")

Files = tuple[str | None, str | None]

ClusterArgument = Annotated[str, typer.Argument(metavar="CLUSTER", help="Its name or uuid.")]
StackArgument = Annotated[
    str, typer.Argument(metavar="STACK", help="Name or id of the cluster's Heat stack.")
]
NameOption = Annotated[
    str | None, typer.Option(help="What to call it; by default as the stack is called.")
]
TemplateOption = Annotated[
    str | None,
    typer.Option("--cluster-template", help="Name or uuid; by default one is made."),
]
GroupsOption = Annotated[
    list[str] | None,
    typer.Option("--node-group", help="Stack of a node group that is not found; repeatable."),
]
CertificateFile = Annotated[
    str | None, typer.Option("--ca-cert", help="File with the certificate of Kubernetes' CA.")
]
KeyFile = Annotated[str | None, typer.Option("--ca-key", help="File with its key.")]
EtcdCertificateFile = Annotated[
    str | None, typer.Option("--etcd-ca-cert", help="The same for the CA of etcd.")
]
EtcdKeyFile = Annotated[str | None, typer.Option("--etcd-ca-key", help="File with its key.")]
ProxyCertificateFile = Annotated[
    str | None, typer.Option("--front-proxy-ca-cert", help="The same for that of the front proxy.")
]
ProxyKeyFile = Annotated[
    str | None, typer.Option("--front-proxy-ca-key", help="File with its key.")
]
ReportOption = Annotated[
    bool, typer.Option("--dry-run", help="Only tell what is recognised; change nothing.")
]


def import_cluster(  # noqa: PLR0913 - its options
    run: Run,
    stack: StackArgument,
    *,
    name: NameOption = None,
    cluster_template: TemplateOption = None,
    node_group: GroupsOption = None,
    ca_cert: CertificateFile = None,
    ca_key: KeyFile = None,
    etcd_ca_cert: EtcdCertificateFile = None,
    etcd_ca_key: EtcdKeyFile = None,
    front_proxy_ca_cert: ProxyCertificateFile = None,
    front_proxy_ca_key: ProxyKeyFile = None,
    dry_run: ReportOption = False,
) -> None:
    """Take over a cluster that one of Magnum's Heat drivers has built.

    Nothing in the cloud changes by it. With the CA's certificate and key, certificates can be
    signed and the cluster's own API can be asked.
    """
    keys = _keys(
        (ca_cert, ca_key), (etcd_ca_cert, etcd_ca_key), (front_proxy_ca_cert, front_proxy_ca_key)
    )
    body = given(
        stack_id=stack,
        name=name,
        cluster_template=cluster_template,
        node_groups=node_group,
        keys=keys or None,
    )
    query = {"dry_run": dry_run or None}
    answer = run.api.send("POST", "clusters", "import", query=query, body=body)
    show_report(run.screen, answer.body)


def import_keys(
    run: Run,
    cluster: ClusterArgument,
    *,
    ca_cert: CertificateFile,
    ca_key: KeyFile,
    etcd_ca_cert: EtcdCertificateFile = None,
    etcd_ca_key: EtcdKeyFile = None,
    front_proxy_ca_cert: ProxyCertificateFile = None,
    front_proxy_ca_key: ProxyKeyFile = None,
) -> None:
    """Give a cluster that was imported without them the keys of its CAs."""
    keys = _keys(
        (ca_cert, ca_key), (etcd_ca_cert, etcd_ca_key), (front_proxy_ca_cert, front_proxy_ca_key)
    )
    run.api.send("PUT", "clusters", cluster, "keys", body=keys)
    run.screen.say("The keys fit, and are on their way.")


def register(app: typer.Typer) -> None:
    """Add the commands to ``jeroboam cluster``."""
    app.command("import")(command(import_cluster))
    app.command("import-keys")(command(import_keys))


def show_report(screen: Screen, body: Mapping[str, Any]) -> None:
    """Print what was recognised, and what can be done with it."""
    if not screen.for_people:
        screen.record(body)
        return
    plain = not screen.console.is_terminal
    findings = [
        {"what": one["what"], "value": one["found"], "complete": one["complete"]}
        for one in body["findings"]
    ]
    screen.draw(table_of(findings, FINDING_COLUMNS, ascii_only=plain))
    operations = [
        {"operation": name, "possible": reason is None, "reason": reason}
        for name, reason in body["operations"].items()
    ]
    screen.draw(table_of(operations, OPERATION_COLUMNS, ascii_only=plain))
    for obstacle in body["obstacles"]:
        screen.say(f"It cannot be imported now: {obstacle}")
    if body["imported"]:
        screen.say(
            f"Cluster {body['name']} ({body['uuid']}) is imported. Nothing in the cloud was "
            "changed, but that you have let the service act for you by a trust."
        )
    elif not body["obstacles"]:
        screen.say("It can be imported. Nothing was done.")


def _keys(kubernetes: Files, etcd: Files, front_proxy: Files) -> dict[str, Any]:
    """Return the pairs of a request, of files with certificates and keys."""
    keys = given(
        kubernetes=_pair("--ca", *kubernetes),
        etcd=_pair("--etcd-ca", *etcd),
        front_proxy=_pair("--front-proxy-ca", *front_proxy),
    )
    if keys and "kubernetes" not in keys:
        raise UsageError("Keys are imported with those of Kubernetes' CA: --ca-cert and --ca-key.")
    return keys


def _pair(option: str, certificate: str | None, key: str | None) -> dict[str, str] | None:
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise UsageError(f"{option}-cert and {option}-key belong together. Name both.")
    return {
        "certificate": _text(f"{option}-cert", certificate),
        "private_key": _text(f"{option}-key", key),
    }


def _text(option: str, file: str) -> str:
    try:
        text = Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The file of {option} cannot be read: {error}") from error
    if not text.strip() or len(text) > LARGEST_FILE:
        raise UsageError(f"The file of {option} holds no certificate or key in PEM: {file}")
    return text
