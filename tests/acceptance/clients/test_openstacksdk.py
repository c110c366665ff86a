"""openstacksdk: every method that it has for clusters, at the version that it asks for."""

from collections.abc import Callable
from typing import Any

import openstack.exceptions
import pytest
from cryptography import x509
from openstack.connection import Connection
from openstack.container_infrastructure_management.v1._proxy import Proxy

from tests import logins
from tests.acceptance.clients.signing import signing_request
from tests.acceptance.stack import Stack, wait_for

SECONDS = 60

pytestmark = pytest.mark.timeout(200)


class Remembering:
    """The SDK's proxy, with a note of each method that was called."""

    def __init__(self, connection: Connection) -> None:
        self._proxy = connection.container_infrastructure_management
        self.called: set[str] = set()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        self.called.add(name)
        found: Callable[..., Any] = getattr(self._proxy, name)
        return found


def every_method() -> set[str]:
    return {
        name for name in vars(Proxy) if not name.startswith("_") and callable(vars(Proxy)[name])
    }


def test_every_method_works(stack: Stack, demo: Connection) -> None:
    """Templates, clusters, certificates and services: made, found, changed, waited for, deleted."""
    magnum = Remembering(demo)
    template = magnum.create_cluster_template(
        name="sdk-template",
        coe="kubernetes",
        image_id="fake-os",
        keypair_id="demo",
        is_floating_ip_enabled=False,
        labels={"fake_create_seconds": "1", "number": 3, "flag": True},
    )
    assert logins.required(magnum.find_cluster_template("sdk-template")).uuid == template.id
    assert magnum.get_cluster_template(template.id).labels["number"] == "3"
    changed = magnum.update_cluster_template(template, name="sdk-renamed")
    assert changed.name == "sdk-renamed"
    assert [one.id for one in magnum.cluster_templates()] == [template.id]
    clusters(magnum, template.id)
    magnum.delete_cluster_template(template.id)
    assert list(magnum.cluster_templates()) == []
    administrators = Remembering(stack.connect("admin"))
    (service,) = administrators.services()
    assert (service.state, service.report_count > 0) == ("up", True)
    assert magnum.called | administrators.called == every_method()


def clusters(magnum: Remembering, template: str) -> None:
    created = magnum.create_cluster(name="sdk-cluster", cluster_template_id=template, node_count=1)
    found = logins.required(magnum.find_cluster("sdk-cluster"))
    assert found.uuid == created.id
    assert [cluster.id for cluster in magnum.clusters()] == [created.id]
    complete = magnum.wait_for_status(
        magnum.get_cluster(created.id), "CREATE_COMPLETE", interval=1, wait=SECONDS
    )
    assert complete.stack_id == f"fake-{created.id}"
    assert complete.coe_version
    assert complete.is_floating_ip_enabled is False
    authority = magnum.get_cluster_certificate(created.id)
    signed = magnum.create_cluster_certificate(
        cluster_uuid=created.id, csr=signing_request("sdk").decode()
    )
    x509.load_pem_x509_certificate(signed.pem.encode()).verify_directly_issued_by(
        x509.load_pem_x509_certificate(authority.pem.encode())
    )
    magnum.update_cluster(complete, node_count=2)
    wait_for(
        lambda: magnum.get_cluster(created.id).status == "UPDATE_COMPLETE", SECONDS, "it has grown"
    )
    assert magnum.get_cluster(created.id).node_count == 2
    magnum.delete_cluster(created.id)
    magnum.wait_for_delete(magnum.find_cluster(created.id) or complete, interval=1, wait=SECONDS)
    with pytest.raises(openstack.exceptions.NotFoundException):
        magnum.get_cluster(created.id)


def test_the_sdk_shows_our_words(demo: Connection) -> None:
    """The SDK's exceptions carry the status and what the service says."""
    with pytest.raises(openstack.exceptions.BadRequestException) as refused:
        demo.container_infrastructure_management.create_cluster_template(
            name="wrong", coe="kubernetes", image_id="absent"
        )
    assert refused.value.status_code == 400
    assert "Unable to find image absent" in logins.required(refused.value.response).text
