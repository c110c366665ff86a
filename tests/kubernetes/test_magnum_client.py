"""``openstack coe``, as its users run it, and a real API server that trusts the cluster's CA."""

import asyncio
import base64
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from tests.integration.cli.loopback import LoopbackApi
from tests.kubernetes.conftest import Hosted
from tests.kubernetes.test_routes import client

NAMESPACES = "/api/v1/namespaces"


@pytest.fixture(scope="module")
async def address(hosted: Hosted) -> AsyncIterator[str]:
    """The API over HTTP."""
    api = LoopbackApi(hosted.service.app)
    api.start()
    yield api.url
    await api.stop()


async def openstack(address: str, *arguments: str, directory: Path) -> str:
    """Run the command line client with a token; return what it prints."""
    process = await asyncio.create_subprocess_exec(
        Path(sys.executable).with_name("openstack"),
        *("--os-auth-type", "admin_token", "--os-endpoint", address.removesuffix("/v1")),
        *("--os-token", "member-token", "coe", *arguments),
        env={"PATH": os.environ["PATH"], "HOME": str(directory), "SHELL": "/bin/bash"},
        cwd=directory,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        output, complaints = await process.communicate()
    assert process.returncode == 0, complaints.decode()
    return output.decode()


def decoded(text: str) -> bytes:
    return base64.b64decode(text)


async def test_the_kubeconfig_of_magnum_s_client_works(
    hosted: Hosted, address: str, tmp_path: Path
) -> None:
    """Its key is RSA and the CA's is on a curve; the API server takes it for an administrator."""
    printed = await openstack(address, "cluster", "config", hosted.uuid, directory=tmp_path)
    assert f"KUBECONFIG={tmp_path}/config" in printed
    text = (tmp_path / "config").read_text()
    config: Any = yaml.safe_load(text)
    user = config["users"][0]["user"]
    leaf = x509.load_pem_x509_certificate(decoded(user["client-certificate-data"]))
    authority = decoded(config["clusters"][0]["cluster"]["certificate-authority-data"])
    assert isinstance(leaf.public_key(), rsa.RSAPublicKey)
    assert isinstance(
        x509.load_pem_x509_certificate(authority).public_key(), ec.EllipticCurvePublicKey
    )
    assert config["clusters"][0]["cluster"]["server"] == hosted.plane.address
    with client({"kubeconfig": text}) as api:
        me = api.create(
            "/apis/authentication.k8s.io/v1/selfsubjectreviews",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"},
        )["status"]["userInfo"]
        assert me["username"] == "admin"
        assert "system:masters" in me["groups"]
        api.create(NAMESPACES, {"metadata": {"name": "by-magnum"}})
        api.request("DELETE", f"{NAMESPACES}/by-magnum")


async def test_the_ca_of_magnum_s_client_is_the_server_s(
    hosted: Hosted, address: str, tmp_path: Path
) -> None:
    """``ca show`` prints what the API server's certificate is signed by."""
    pem = await openstack(address, "ca", "show", hosted.uuid, directory=tmp_path)
    authority = x509.load_pem_x509_certificate(pem.encode())
    server = x509.load_pem_x509_certificate((hosted.plane.directory / "server.crt").read_bytes())
    server.verify_directly_issued_by(authority)
