"""The first master installs what calls the cloud, once, and takes nothing back that was renewed."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.drivers.heat.accounts import CINDER, CLOUD_PROVIDER, with_programs
from tests.unit.drivers.heat.clusters import make_spec
from tests.unit.drivers.heat.nodes import DRIVERS, boot, documents, files, modes, units
from tests.unit.drivers.heat.sandbox import Sandbox
from tests.unit.drivers.heat.test_bootstrap import in_order, serve

MANAGER = """\
kind: DaemonSet
spec:
  containers:
    - name: manager
      image: registry.k8s.io/provider-os/openstack-cloud-controller-manager:v1.36.0
      volumeMounts:
        - mountPath: /etc/ssl/certs
          name: certificates
      env:
        - name: CLUSTER_NAME
          value: kubernetes
        - name: OTHER
          value: kept
  volumes:
    - hostPath:
        path: /etc/ssl/certs
        type: DirectoryOrCreate
      name: certificates
"""
PROVIDER = (
    "cloud-controller-manager-roles",
    "cloud-controller-manager-role-bindings",
    "openstack-cloud-controller-manager-ds",
)
CSI = (
    "csi-cinder-driver",
    "cinder-csi-controllerplugin-rbac",
    "cinder-csi-controllerplugin",
    "cinder-csi-nodeplugin-rbac",
    "cinder-csi-nodeplugin",
)

# Keeps objects as files; notes what is applied; is away, or loses an answer, where that is marked.
KUBECTL = """#!/usr/bin/bash
echo "kubectl $*" >> "$SANDBOX/calls"
objects="$SANDBOX/objects"
last="${@: -1}"
mkdir -p "$objects"
if [ -e "$SANDBOX/api-is-away" ]; then rm "$SANDBOX/api-is-away"; exit 1; fi
case " $* " in
    *" get node "*) echo True ;;
    *" get secret/cloud-config "*) if [ -e "$objects/secret" ]; then echo secret/cloud-config; fi ;;
    *" get storageclass/cinder "*) if [ -e "$objects/class" ]; then echo class/cinder; fi ;;
    *" create secret "*) cp "${last#--from-file=cloud.conf=}" "$objects/secret" ;;
    *" create --filename "*) cp "$last" "$objects/class" ;;
    *" apply "*) cat "$last" >> "$SANDBOX/applied"; printf "\\n---\\n" >> "$SANDBOX/applied" ;;
esac
case " $* " in *" get "*) exit 0 ;; esac
if [ -e "$SANDBOX/answer-is-lost" ]; then rm "$SANDBOX/answer-is-lost"; exit 1; fi
"""


def node(tmp_path: Path, spec: Any = None, role: str = "master", **values: str) -> Sandbox:
    """Return a node of a cluster whose programs call the cloud."""
    document = boot(documents(spec or with_programs())[role], **values)
    sandbox = Sandbox.of(tmp_path, document)
    sandbox.program("kubectl", KUBECTL)
    publish(sandbox)
    return sandbox


def publish(sandbox: Sandbox) -> None:
    for name in (*PROVIDER, *CSI):
        (sandbox.web / f"{name}.yaml").write_text(f"name: {name}\n")
    (sandbox.web / f"{PROVIDER[-1]}.yaml").write_text(MANAGER)


def run(sandbox: Sandbox) -> str:
    """Run the script; return what it complained of."""
    done = sandbox.run("cloud.sh")
    assert done.returncode == 0, done.stderr
    return done.stderr


def applied(sandbox: Sandbox) -> list[dict[str, Any]]:
    """Return the manifests that were applied, in their order."""
    noted = sandbox.folder / "applied"
    return list(yaml.safe_load_all(noted.read_text()))[:-1] if noted.exists() else []


def stored(sandbox: Sandbox, name: str) -> str:
    return (sandbox.folder / "objects" / name).read_text()


@pytest.mark.parametrize("driver", sorted(DRIVERS))
@pytest.mark.parametrize("role", ["master", "worker"])
def test_boot(driver: str, role: str, tmp_path: Path) -> None:
    """Nodes of each system come up with it; workers know nothing of the account."""
    alone = {"__NODE_ADDRESS__": "10.0.0.4", "__API_ADDRESS__": "10.0.0.4"}
    document = boot(documents(with_programs(), DRIVERS[driver])[role], **alone)
    private = {"/etc/jeroboam/cloud.conf", "/etc/jeroboam/cloud.env"}
    if role == "worker":
        assert not {path for path in files(document) if "cloud" in path}
        assert "jeroboam-cloud.service" not in units(document)
        return
    assert {modes(document)[path] for path in private} == {0o600}
    sandbox = Sandbox.of(tmp_path, document)
    serve(sandbox)
    publish(sandbox)
    sandbox.program("kubectl", KUBECTL)
    sandbox.serve("kubectl", KUBECTL.encode())
    scripts = in_order(units(document))
    assert scripts.index("network.sh") < scripts.index("cloud.sh")
    for script in scripts:
        done = sandbox.run(script)
        assert done.returncode == 0, f"{script}: {done.stderr}"
    assert stored(sandbox, "secret") == files(document)["/etc/jeroboam/cloud.conf"]
    assert len(sandbox.signals()) == 1


def test_clusters_without_such_programs() -> None:
    """Their nodes have neither the script nor its unit, nor any of its files."""
    for driver in DRIVERS.values():
        document = boot(documents(make_spec(), driver)["master"])
        assert not {path for path in files(document) if "cloud" in path or "storage" in path}
        assert "jeroboam-cloud.service" not in units(document)


def test_everything_is_installed(tmp_path: Path) -> None:
    """The account goes first; manifests follow in their order, then the storage class."""
    sandbox = node(tmp_path)
    assert run(sandbox) == ""
    assert stored(sandbox, "secret") == sandbox.path("/etc/jeroboam/cloud.conf").read_text()
    assert yaml.safe_load(stored(sandbox, "class"))["metadata"]["name"] == "cinder"
    names = [one.get("name", PROVIDER[-1]) for one in applied(sandbox)]
    assert names == [*PROVIDER, *CSI]
    address = "https://raw.githubusercontent.com/kubernetes/cloud-provider-openstack/v1.36.0/"
    fetched = [call.rsplit(" ", 1)[1] for call in sandbox.calls("curl")]
    assert fetched[0] == f"{address}manifests/controller-manager/{PROVIDER[0]}.yaml"
    assert fetched[-1] == f"{address}manifests/cinder-csi-plugin/{CSI[-1]}.yaml"
    assert not sandbox.path("/var/lib/jeroboam/cloud.yaml").exists()


def test_manifests_are_adapted(tmp_path: Path) -> None:
    """Load balancers and volumes are marked with the cluster's uuid; images have their prefix."""
    spec = with_programs(labels={"container_infra_prefix": "registry.example.org/kube"})
    sandbox = node(tmp_path, spec)
    run(sandbox)
    pod = applied(sandbox)[2]["spec"]
    (container,) = pod["containers"]
    image = "registry.example.org/kube/openstack-cloud-controller-manager:v1.36.0"
    assert container["image"] == image
    values = {one["name"]: one["value"] for one in container["env"]}
    assert values == {"CLUSTER_NAME": spec.cluster.uuid, "OTHER": "kept"}
    assert pod["volumes"][0]["hostPath"]["path"] == "/etc/ssl/certs"


def test_certificates_of_fedora(tmp_path: Path) -> None:
    """Where /etc/ssl/certs holds links only, the manager gets the folder that they lead to."""
    sandbox = node(tmp_path)
    sandbox.path("/etc/pki/ca-trust/extracted/pem").mkdir(parents=True)
    run(sandbox)
    pod = applied(sandbox)[2]["spec"]
    assert pod["volumes"][0]["hostPath"]["path"] == "/etc/pki/ca-trust/extracted/pem"
    assert pod["containers"][0]["volumeMounts"][0]["mountPath"] == "/etc/ssl/certs"


@pytest.mark.parametrize(
    ("fields", "names", "class_"),
    [({"labels": CLOUD_PROVIDER}, PROVIDER, False), ({"template": CINDER}, CSI, True)],
)
def test_one_of_both(
    fields: dict[str, Any], names: tuple[str, ...], tmp_path: Path, *, class_: bool
) -> None:
    """Each program comes without the other, and the account with either."""
    sandbox = node(tmp_path, make_spec(**fields))
    run(sandbox)
    assert [one.get("name", PROVIDER[-1]) for one in applied(sandbox)] == list(names)
    assert (sandbox.folder / "objects" / "class").exists() is class_
    assert stored(sandbox, "secret")


def test_what_was_renewed_stays(tmp_path: Path) -> None:
    """A first master that is set up anew keeps the account and the class that the cluster has."""
    sandbox = node(tmp_path)
    (sandbox.folder / "objects").mkdir()
    for name in ("secret", "class"):
        (sandbox.folder / "objects" / name).write_text("renewed")
    run(sandbox)
    assert (stored(sandbox, "secret"), stored(sandbox, "class")) == ("renewed", "renewed")
    assert len(applied(sandbox)) == len(PROVIDER) + len(CSI)


def test_it_goes_on_after_failures(tmp_path: Path) -> None:
    """An API that is away for a moment is no reason to put an old account in place of a new one."""
    sandbox = node(tmp_path)
    sandbox.mark("api-is-away")
    sandbox.mark("answer-is-lost")
    complaint = run(sandbox)
    assert complaint.count("'create_once secret/cloud-config") == 2
    created = [call for call in sandbox.calls("kubectl") if " create secret " in call]
    assert len(created) == 1


def test_missing_manifest_is_waited_for(tmp_path: Path) -> None:
    """The script goes on when a manifest can be had."""
    sandbox = node(tmp_path)
    missing = sandbox.web / f"{PROVIDER[1]}.yaml"
    missing.unlink()
    sandbox.program("sleep", f"#!/usr/bin/bash\necho 'name: late' > {missing}\n")
    assert "did not succeed" in run(sandbox)
    assert applied(sandbox)[1] == {"name": "late"}


def test_only_once_and_only_the_first_master(tmp_path: Path) -> None:
    """Further masters, and reboots, leave it alone."""
    first, second = node(tmp_path / "first"), node(tmp_path / "second", __NODE_INDEX__="1")
    run(second)
    assert second.calls("kubectl", "curl") == []
    run(first)
    before = first.calls("kubectl", "curl")
    run(first)
    assert first.calls("kubectl", "curl") == before
