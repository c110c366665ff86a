"""Nodes while authorities are rotated: they trust two, and have certificates of one."""

import base64
import json
import re
from dataclasses import replace
from typing import Any

import pytest
import yaml

from jeroboam.certificates import issue_cluster_secrets
from jeroboam.drivers.base import ClusterSecrets, DriverContext
from tests.fakes import NoCloud
from tests.unit.drivers.heat.clusters import make_spec, secrets
from tests.unit.drivers.heat.nodes import DRIVERS, boot, files
from tests.unit.drivers.heat.sandbox import Sandbox

ALONE = {"__NODE_ADDRESS__": "10.0.0.4", "__API_ADDRESS__": "10.0.0.4"}
MOST_USER_DATA = 65535
"""Bytes as base64 that Nova takes."""

KUBECONFIG = "clusters:\n- cluster:\n    certificate-authority-data: {}\n    server: https://x\n"


def both() -> ClusterSecrets:
    """Return secrets in the middle of a rotation."""
    former, new = secrets(), issue_cluster_secrets("demo")
    return replace(
        new,
        **{
            kind: replace(getattr(new, kind), also_trusted=(getattr(former, kind).certificate,))
            for kind in ("kubernetes", "etcd", "front_proxy")
        },
    )


def booted(found: ClusterSecrets, role: str, driver: str = "k8s_ubuntu_v1") -> dict[str, Any]:
    context = DriverContext("c:o:s", NoCloud(), lambda: found)
    facts = DRIVERS[driver]().facts(context, make_spec(), 60)
    return boot(facts[f"{role}_setup"].user_data, **ALONE)


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("driver", sorted(DRIVERS))
@pytest.mark.parametrize("role", ["master", "worker"])
def test_nodes_trust_both(driver: str, role: str) -> None:
    """Each file of an authority has both; one signs, and Nova still takes the document."""
    found = both()
    document = booted(found, role, driver)
    assert len(encoded(json.dumps(document))) < MOST_USER_DATA
    laid_out = files(document)
    join = yaml.safe_load(laid_out["/etc/jeroboam/kubeadm-join.yaml"])
    assert len(set(join["discovery"]["bootstrapToken"]["caCertHashes"])) == 2
    if role == "worker":
        assert not [path for path in laid_out if "/pki/" in path]
        return
    pki = {path.rpartition("/pki/")[2]: text for path, text in laid_out.items() if "/pki/" in path}
    assert pki["ca.crt"] == found.kubernetes.trusted
    assert pki["etcd/ca.crt"] == found.etcd.trusted
    assert pki["front-proxy-ca.crt"] == found.front_proxy.trusted
    assert pki["ca-signer.crt"] == found.kubernetes.certificate
    assert "cluster-signing-cert-file" in laid_out["/etc/jeroboam/kubeadm-init.yaml"]


def test_otherwise_one_is_trusted() -> None:
    """Outside of a rotation nothing of it is on a node."""
    laid_out = files(booted(secrets(), "master"))
    assert "/etc/jeroboam/pki/ca-signer.crt" not in laid_out
    assert "cluster-signing" not in laid_out["/etc/jeroboam/kubeadm-init.yaml"]
    join = yaml.safe_load(laid_out["/etc/jeroboam/kubeadm-join.yaml"])
    assert len(join["discovery"]["bootstrapToken"]["caCertHashes"]) == 1


class TestScripts:
    @pytest.fixture
    def sandbox(self, tmp_path: Any) -> Sandbox:
        """Return a master whose kubeadm trusts the authority that signs, and no other."""
        found = both()
        sandbox = Sandbox.of(tmp_path, booted(found, "master"))
        written = KUBECONFIG.format(encoded(found.kubernetes.certificate))
        admin = sandbox.path("/etc/kubernetes/admin.conf")
        admin.parent.mkdir(parents=True, exist_ok=True)
        admin.write_text(written)
        sandbox.answer("kubectl", "cluster-info", written)
        return sandbox

    def test_administration_and_joining_trust_both(self, sandbox: Sandbox) -> None:
        """Other masters may have certificates of the other authority."""
        assert sandbox.run("cluster.sh").returncode == 0
        bundle = encoded(sandbox.path("/etc/jeroboam/pki/ca.crt").read_text())
        expected = KUBECONFIG.format(bundle)
        assert sandbox.path("/etc/kubernetes/admin.conf").read_text() == expected
        assert sandbox.path("/var/lib/jeroboam/cluster-info").read_text() == expected
        (replaced,) = [call for call in sandbox.calls("kubectl") if " replace " in call]
        assert "--namespace kube-public" in replaced

    def test_what_is_published_is_left_alone(self, sandbox: Sandbox) -> None:
        """The second master finds it as it should be."""
        bundle = encoded(sandbox.path("/etc/jeroboam/pki/ca.crt").read_text())
        sandbox.answer("kubectl", "cluster-info", KUBECONFIG.format(bundle))
        assert sandbox.run("cluster.sh").returncode == 0
        assert not [call for call in sandbox.calls("kubectl") if re.search("replace|create", call)]
