"""The routes about Kubernetes, over HTTP, against a real API server."""

import base64
import signal
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml
from cryptography import x509

from jeroboam import certificates
from jeroboam.certificates import ClientCertificate
from jeroboam.drivers.kubernetes.client import ClusterApi
from jeroboam.errors import ClusterUnreachableError, NotFoundError
from tests.integration.api.conftest import error_of
from tests.kubernetes.certificates import server_certificate
from tests.kubernetes.conftest import Hosted
from tests.kubernetes.workloads import deploy, pods, remove, until


def client(answer: dict[str, Any]) -> ClusterApi:
    """Return the API as somebody who has only the kubeconfig."""
    config = yaml.safe_load(answer["kubeconfig"])
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    certificate, key, authority = (
        base64.b64decode(text).decode()
        for text in (
            user["client-certificate-data"],
            user["client-key-data"],
            cluster["certificate-authority-data"],
        )
    )
    issued = ClientCertificate(certificate, key, datetime.now(UTC))
    return ClusterApi(cluster["server"], authority, issued)


async def test_nodes_are_those_of_the_cluster(hosted: Hosted) -> None:
    """With what the cluster itself says of them."""
    answer = await hosted.call("GET", "kubernetes/nodes")
    assert answer.status_code == 200, answer.text
    nodes = {node["name"]: node for node in answer.json()["nodes"]}
    assert sorted(nodes) == sorted(await hosted.workers())
    for node in nodes.values():
        assert (node["ready"], node["schedulable"], node["problems"]) == (True, True, {})
        assert (node["cpu_millicores"], node["memory_mib"]) == (4000, 8192)
        assert node["version"] == "v1.36.4"


async def test_the_administrator_s_kubeconfig_can_do_everything(hosted: Hosted) -> None:
    """It names the caller, and ends when it shall."""
    answer = await hosted.call("POST", "kubernetes/kubeconfig/admin", json={"hours": 2})
    assert answer.status_code == 200, answer.text
    body = answer.json()
    with client(body) as api:
        path = "/api/v1/namespaces/default/secrets"
        api.create(path, {"metadata": {"name": "mine"}, "stringData": {"a": "b"}})
        assert api.get(f"{path}/mine")["data"] == {"a": "Yg=="}
        user = api.create(
            "/apis/authentication.k8s.io/v1/selfsubjectreviews",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"},
        )["status"]["userInfo"]
    assert user["username"] == "u1"
    assert "system:masters" in user["groups"]
    ends = datetime.fromisoformat(body["expires_at"])
    assert timedelta(minutes=115) < ends - datetime.now(UTC) <= timedelta(hours=2)
    config = yaml.safe_load(body["kubeconfig"])
    raw = base64.b64decode(config["users"][0]["user"]["client-certificate-data"])
    assert abs(x509.load_pem_x509_certificate(raw).not_valid_after_utc - ends) < timedelta(
        seconds=2
    )


async def test_the_viewer_s_kubeconfig_can_only_look(hosted: Hosted) -> None:
    """Twice, since the second one finds the binding that the first has made."""
    for token in ("colleague-token", "member-token"):
        answer = await hosted.call("POST", "kubernetes/kubeconfig/view", token=token)
        assert answer.status_code == 200, answer.text
    with client(answer.json()) as api:
        # The API server hears of the binding a moment after it was made.
        await until(lambda: reads_pods(api))
        with pytest.raises(ClusterUnreachableError, match="cannot list resource"):
            api.get("/api/v1/namespaces/default/secrets")
        with pytest.raises(ClusterUnreachableError, match="cannot create resource"):
            api.create("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "x"}})


@pytest.mark.parametrize(
    ("path", "token", "status"),
    [
        ("kubeconfig/admin", "colleague-token", 403),
        ("kubeconfig/admin", "reader-token", 403),
        ("kubeconfig/view", "reader-token", 403),
        ("kubeconfig/view", "stranger-token", 404),
    ],
)
async def test_keys_are_for_those_whom_policy_permits(
    hosted: Hosted, path: str, token: str, status: int
) -> None:
    """All rights only for the cluster's owner; nothing for other projects."""
    answer = await hosted.call("POST", f"kubernetes/{path}", token=token)
    assert answer.status_code == status


@pytest.mark.parametrize("hours", [0, 721, "x"])
async def test_a_lifetime_is_limited(hosted: Hosted, hours: object) -> None:
    """Nobody can call a certificate back."""
    answer = await hosted.call("POST", "kubernetes/kubeconfig/admin", json={"hours": hours})
    assert answer.status_code == 400
    assert "hours" in error_of(answer)["detail"]


async def test_workloads_restart_and_events(hosted: Hosted) -> None:
    """A rolling restart replaces the pods, and the cluster's events tell of it."""
    with hosted.plane.api() as api:
        deploy(api, "web", 3)
        await until(lambda: len(pods(api, "web")) == 3)
        before = {pod["metadata"]["uid"] for pod in pods(api, "web")}

        answer = await hosted.call("GET", "kubernetes/workloads?namespace=default")
        (web,) = answer.json()["workloads"]
        assert (web["kind"], web["name"], web["desired"]) == ("Deployment", "web", 3)
        assert answer.json()["pods"]["Running"] >= 3

        path = "kubernetes/deployments/default/web/restart"
        assert (await hosted.call("POST", path, token="reader-token")).status_code == 403
        answer = await hosted.call("POST", path)
        assert answer.status_code == 200, answer.text
        assert answer.json()["generation"] == 2
        await until(
            lambda: (
                len(now := pods(api, "web")) == 3
                and not before & {pod["metadata"]["uid"] for pod in now}
            )
        )
        answer = await hosted.call("GET", "kubernetes/events?limit=50&namespace=default")
        events = answer.json()["events"]
        assert "ScalingReplicaSet" in {event["reason"] for event in events}
        assert "Scheduled" in {event["reason"] for event in events}
        moments = [datetime.fromisoformat(event["at"]) for event in events]
        assert moments == sorted(moments, reverse=True)
        answer = await hosted.call("GET", "kubernetes/events?limit=1")
        assert len(answer.json()["events"]) == 1
        remove(api, "web")
        await until(lambda: not pods(api, "web"))


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("absent", 404, "not found"),
        ("UPPER", 400, "no name"),
        ("a..b", 400, "no name"),
        ("%2e%2e", 400, "no name"),
        ("x%3Fdry=1", 400, "no name"),
    ],
)
async def test_a_deployment_that_is_not_there(
    hosted: Hosted, name: str, status: int, words: str
) -> None:
    """What cannot be a name never gets into a path."""
    answer = await hosted.call("POST", f"kubernetes/deployments/default/{name}/restart")
    assert answer.status_code == status, answer.text
    assert words in error_of(answer)["detail"]


async def test_a_server_with_another_authority_is_not_talked_to(hosted: Hosted) -> None:
    """A stranger on the cluster's address gets no request: 502, with the reason."""
    directory = hosted.plane.directory
    good = {name: (directory / name).read_text() for name in ("server.crt", "server.key")}
    strange = server_certificate(certificates.issue_cluster_secrets("x").kubernetes, "127.0.0.1")
    hosted.plane.stop("kube-apiserver")
    try:
        for name, text in zip(good, strange, strict=True):
            (directory / name).write_text(text)
        hosted.plane.run_api()
        await until(lambda: "certificate" in reason(hosted))
        answer = await hosted.call("GET", "kubernetes/nodes")
    finally:
        hosted.plane.stop("kube-apiserver")
        for name, text in good.items():
            (directory / name).write_text(text)
        hosted.plane.restart_api()
    assert answer.status_code == 502
    assert "has no certificate of this cluster" in error_of(answer)["detail"]


def reads_pods(api: ClusterApi) -> bool:
    try:
        return bool(api.get("/api/v1/namespaces/default/pods")["kind"] == "PodList")
    except ClusterUnreachableError:
        return False


def reason(hosted: Hosted) -> str:
    try:
        with hosted.plane.api() as api:
            api.get("/readyz")
    except (ClusterUnreachableError, NotFoundError) as error:
        return error.message
    return ""


async def test_a_cluster_that_is_away(hosted: Hosted) -> None:
    """Nobody there is 502 at once; somebody who says nothing is 504 in time."""
    process = hosted.plane.processes["kube-apiserver"]
    process.send_signal(signal.SIGSTOP)
    try:
        answer = await hosted.call("GET", "kubernetes/nodes")
        assert answer.status_code == 504
        assert "does not answer in time" in error_of(answer)["detail"]
    finally:
        process.send_signal(signal.SIGCONT)
    hosted.plane.stop("kube-apiserver")
    try:
        answer = await hosted.call("GET", "kubernetes/nodes")
        assert answer.status_code == 502
        assert "cannot be reached" in error_of(answer)["detail"]
    finally:
        hosted.plane.restart_api()
    assert (await hosted.call("GET", "kubernetes/nodes")).status_code == 200
