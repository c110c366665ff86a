"""Another account reaches programs in a real cluster, and restarts them once."""

import base64
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from jeroboam.drivers.base import CloudAccount, DriverContext
from jeroboam.drivers.k8s_ubuntu_v1.driver import UbuntuDriver
from jeroboam.drivers.kubernetes import account
from jeroboam.drivers.kubernetes.client import ClusterApi
from jeroboam.errors import ClusterUnreachableError, NotFoundError
from jeroboam.testing.specs import make_spec
from jeroboam.testing.without_cloud import NoCloud
from tests.kubernetes.conftest import Hosted
from tests.kubernetes.workloads import deployment, until

DRIVER = UbuntuDriver()
OLD = CloudAccount("https://keystone/v3", "u1", "old-password", "t1", "here")
NEW = replace(OLD, user_id="u2", password="new-password", trust_id="t2")
SECRETS = "/api/v1/namespaces/kube-system/secrets"
APPS = "/apis/apps/v1/namespaces/kube-system"
POLICIES = "/apis/admissionregistration.k8s.io/v1"


@pytest.fixture
def api(hosted: Hosted) -> Iterator[ClusterApi]:
    """Yield the cluster's API; what the test has made goes afterwards."""
    with hosted.plane.api() as found:
        yield found
        for plural, name in account.WORKLOADS:
            remove(found, f"{APPS}/{plural}/{name}")
        remove(found, f"{SECRETS}/cloud-config")


def hand_over(hosted: Hosted, given: CloudAccount) -> None:
    """Hand an account over as the engine does."""
    spec = make_spec(
        DRIVER,
        api_address=hosted.plane.address,
        labels={"cloud_provider_enabled": "true"},
        template={"volume_driver": "cinder"},
    )
    secrets = replace(hosted.plane.secrets, account=given)
    DRIVER.hand_over_account(DriverContext("c:o:s", NoCloud(), lambda: secrets), spec)


def run_programs(api: ClusterApi) -> None:
    """Have the cluster run what reads the account."""
    for plural, name in account.WORKLOADS:
        workload = deployment(name, 1)
        if plural == "daemonsets":
            del workload["spec"]["replicas"]
            workload["kind"] = "DaemonSet"
        api.create(f"{APPS}/{plural}", workload)


def generations(api: ClusterApi) -> dict[str, int]:
    """Return how often each program was changed."""
    listed = {name: api.get(f"{APPS}/{plural}/{name}") for plural, name in account.WORKLOADS}
    return {name: one["metadata"]["generation"] for name, one in listed.items()}


def started_with(api: ClusterApi) -> dict[str, set[str]]:
    """Return the marks of the running pods of each program."""
    marks: dict[str, set[str]] = {}
    for pod in api.items("/api/v1/namespaces/kube-system/pods"):
        meta = pod["metadata"]
        if "deletionTimestamp" not in meta:
            mark = (meta.get("annotations") or {}).get(account.MARK, "")
            marks.setdefault(meta["labels"]["app"], set()).add(mark)
    return marks


def stored(api: ClusterApi) -> str:
    data = api.get(f"{SECRETS}/cloud-config")["data"]["cloud.conf"]
    return base64.b64decode(data).decode()


def remove(api: ClusterApi, path: str) -> None:
    try:
        api.request("DELETE", path)
    except NotFoundError:
        return


async def test_programs_are_restarted_once(hosted: Hosted, api: ClusterApi) -> None:
    """Each account replaces the pods once, however often it is handed over."""
    run_programs(api)
    await until(lambda: len(started_with(api)) == len(account.WORKLOADS))
    assert set(generations(api).values()) == {1}
    before = started_with(api)
    for number, given in enumerate((OLD, NEW), start=2):
        for _ in range(2):
            hand_over(hosted, given)
            assert f'password="{given.password}"' in stored(api)
            assert set(generations(api).values()) == {number}
        await until(partial(is_renewed, api, before))
        before = started_with(api)


async def test_programs_that_are_not_there(hosted: Hosted, api: ClusterApi) -> None:
    """The Secret is made or renewed all the same, and what else is in it stays."""
    hand_over(hosted, OLD)
    assert "old-password" in stored(api)
    api.merge(f"{SECRETS}/cloud-config", {"stringData": {"mine": "kept"}})
    hand_over(hosted, NEW)
    hand_over(hosted, NEW)
    assert "new-password" in stored(api)
    kept = api.get(f"{SECRETS}/cloud-config")["data"]["mine"]
    assert base64.b64decode(kept) == b"kept"


async def test_one_program_alone(hosted: Hosted, api: ClusterApi) -> None:
    """A cluster may have only some of the programs."""
    plural, name = account.WORKLOADS[1]
    api.create(f"{APPS}/{plural}", deployment(name, 1))
    hand_over(hosted, OLD)
    template = api.get(f"{APPS}/{plural}/{name}")["spec"]["template"]
    assert template["metadata"]["annotations"][account.MARK]


async def test_refusal_tells_no_secret(hosted: Hosted, api: ClusterApi) -> None:
    """A cluster that quotes what it refuses does not get it into our messages."""
    policies, bindings = (
        f"{POLICIES}/validatingadmissionpolicies",
        f"{POLICIES}/validatingadmissionpolicybindings",
    )
    api.create(policies, POLICY)
    binding = {"policyName": "quoting", "validationActions": ["Deny"]}
    api.create(bindings, {"metadata": {"name": "quoting"}, "spec": binding})
    try:
        await until(lambda: "cGFzc3dvcmQ" in quoted(api))
        with pytest.raises(ClusterUnreachableError) as caught:
            hand_over(hosted, OLD)
    finally:
        remove(api, f"{bindings}/quoting")
        remove(api, f"{policies}/quoting")
    assert "does not take the Secret kube-system/cloud-config" in caught.value.message
    encoded = base64.b64encode(b"[Global]\nauth-url").decode()[:20]
    assert "old-password" not in caught.value.message
    assert encoded not in caught.value.message
    await until(lambda: quoted(api) == "")
    hand_over(hosted, OLD)
    assert "old-password" in stored(api)


async def test_api_that_is_away(hosted: Hosted) -> None:
    """Nothing is handed over, and the same call works later."""
    hosted.plane.stop("kube-apiserver")
    try:
        with pytest.raises(ClusterUnreachableError, match="cannot be reached"):
            hand_over(hosted, OLD)
    finally:
        hosted.plane.restart_api()
    hand_over(hosted, OLD)


POLICY: dict[str, Any] = {
    "metadata": {"name": "quoting"},
    "spec": {
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE", "UPDATE"],
                    "resources": ["secrets"],
                }
            ]
        },
        "validations": [
            {
                "expression": "object.metadata.namespace != 'kube-system'",
                "messageExpression": "'refused: ' + string(object.data['cloud.conf'])",
            }
        ],
    },
}


def quoted(api: ClusterApi) -> str:
    """Return what the cluster says when it refuses a Secret; nothing when it takes it."""
    body = {"metadata": {"generateName": "x-"}, "data": {"cloud.conf": "cGFzc3dvcmQ="}}
    try:
        api.create(f"{SECRETS}?dryRun=All", body)
    except Exception as error:  # noqa: BLE001 - of any class
        return str(error)
    return ""


def is_renewed(api: ClusterApi, before: Mapping[str, set[str]]) -> bool:
    """Whether all pods of a program have one and the same mark, which is not that of before."""
    now = started_with(api)
    return len(now) == len(account.WORKLOADS) and all(
        len(marks) == 1 and "" not in marks and marks != before.get(name)
        for name, marks in now.items()
    )
