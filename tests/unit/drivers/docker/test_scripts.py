"""What the scripts of all nodes with Docker have in common."""

import subprocess
import sys
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from tests.unit.drivers.docker.clusters import DRIVERS, node
from tests.unit.drivers.heat.clusters import secrets
from tests.unit.drivers.heat.sandbox import Sandbox

SHELLCHECK = Path(sys.executable).with_name("shellcheck")
ARCHIVE = "docker-29.9.3.tgz"
SCRIPTS = "/usr/local/lib/jeroboam"
TLS = "/etc/jeroboam/tls"


@pytest.mark.parametrize("coe", sorted(DRIVERS))
@pytest.mark.parametrize("role", ["master", "worker"])
def test_shellcheck(tmp_path: Path, coe: str, role: str) -> None:
    """Every script that a node gets is free of shellcheck's findings."""
    scripts = sorted(node(tmp_path, coe, role).path(SCRIPTS).glob("*.sh"))
    assert {"library.sh", "volumes.sh", "prepare.sh", "cluster.sh", "ready.sh"} <= {
        script.name for script in scripts
    }
    done = subprocess.run(
        [str(SHELLCHECK), "--external-sources", *map(str, scripts)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout


class TestPrepare:
    @pytest.fixture
    def manager(self, tmp_path: Path) -> Sandbox:
        sandbox = node(tmp_path, "swarm", "master")
        sandbox.serve_archive(ARCHIVE, "docker/dockerd")
        return sandbox

    def test_installs_docker_once(self, manager: Sandbox) -> None:
        """Docker ends up executable in its place, and is fetched once."""
        for _ in range(2):
            done = manager.run("prepare.sh")
            assert done.returncode == 0, done.stderr
        assert manager.path("/usr/local/bin/dockerd").stat().st_mode & 0o111
        (call,) = manager.calls("curl")
        assert call.endswith(
            "https://download.docker.com/linux/static/stable/x86_64/docker-29.9.3.tgz"
        )

    def test_another_version(self, manager: Sandbox) -> None:
        """A volume that brings the state of an older version along does not keep it."""
        manager.path("/var/lib/jeroboam").mkdir(parents=True, exist_ok=True)
        manager.path("/var/lib/jeroboam/docker-version").write_text("28.0.0\n")
        assert manager.run("prepare.sh").returncode == 0
        assert manager.path("/usr/local/bin/dockerd").exists()

    def test_checksum(self, tmp_path: Path) -> None:
        """With a checksum, another archive is thrown away and fetched again."""
        sandbox = node(tmp_path, "mesos", "worker")
        sandbox.serve_archive(ARCHIVE, "docker/dockerd")
        digest = (sandbox.web / f"{ARCHIVE}.sha256").read_text().split()[0]
        settings = sandbox.path("/etc/jeroboam/cluster.env")
        settings.write_text(settings.read_text() + f"DOCKER_SHA256={digest}\n")
        sandbox.mark(f"broken-{ARCHIVE}")
        done = sandbox.run("prepare.sh")
        assert done.returncode == 0
        assert "the checksum of" in done.stderr
        assert sandbox.path("/usr/local/bin/dockerd").exists()

    def test_unknown_architecture(self, manager: Sandbox) -> None:
        """A machine for which there is no Docker is reported to Heat at once."""
        manager.program("uname", "#!/bin/sh\necho s390\n")
        assert manager.run("prepare.sh").returncode == 1
        assert "s390" in manager.signals()[0]

    def test_certificate(self, manager: Sandbox) -> None:
        """A manager's certificate is its authority's, names all its addresses, and is private."""
        assert manager.run("prepare.sh").returncode == 0
        found = x509.load_pem_x509_certificate(manager.path(f"{TLS}/server.crt").read_bytes())
        authority = x509.load_pem_x509_certificate(secrets().kubernetes.certificate.encode())
        found.verify_directly_issued_by(authority)
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        addresses = {str(one) for one in names.get_values_for_type(x509.IPAddress)}
        assert addresses == {"10.0.0.5", "10.0.0.4", "172.24.0.9", "127.0.0.1"}
        usage = found.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        assert set(usage) == {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH}
        for name in ("server.key", "server.pem", "server.crt", "ca.crt"):
            assert manager.path(f"{TLS}/{name}").stat().st_mode & 0o077 == 0
        assert list(manager.path("/var/lib/jeroboam").glob("tls.*")) == []

    @pytest.mark.parametrize("coe", sorted(DRIVERS))
    def test_workers_have_no_authority(self, tmp_path: Path, coe: str) -> None:
        """A worker gets neither the authority's key nor a certificate."""
        sandbox = node(tmp_path, coe, "worker")
        sandbox.serve_archive(ARCHIVE, "docker/dockerd")
        assert sandbox.run("prepare.sh").returncode == 0
        assert not sandbox.path(TLS).exists()
        key = secrets().kubernetes.private_key.splitlines()[1]
        texts = [one.read_text() for one in sandbox.path("/etc").rglob("*") if one.is_file()]
        assert all(key not in text for text in texts)
        assert all(secrets().bootstrap_token not in text for text in texts)
