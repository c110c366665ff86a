"""Fills a new cloud: identities and catalogue first, then what each service offers.

Usage: ``python -m devcloud.inside.seed``, with ``DEVCLOUD_HOME`` set.

Every step looks before it creates, so an interrupted seed may be run again.
"""

import socket
import time
from typing import Any

import openstack
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from keystoneauth1 import exceptions

from devcloud import catalogue, credentials
from devcloud.inside.home import current
from devcloud.layout import Layout, write_private
from devcloud.options import PASSWORD

WAIT_SECONDS = 240.0
MEMBER_EXTRAS = ("load-balancer_member", "creator")
"""Roles that clouds with Octavia and Barbican give to their tenants."""

FLAVORS = (("m1.tiny", 1, 512, 1), ("m1.small", 1, 2048, 20), ("m1.medium", 2, 4096, 40))
IMAGES: dict[str, dict[str, str]] = {
    "fedora-coreos": {"os_distro": "fedora-coreos", "magnum_distro": "fedora-coreos"},
    "ubuntu-kube": {"os_distro": "ubuntu"},
    "fake-os": {"os_distro": "fake", "magnum_distro": "fake"},
    "cirros": {},
}
EXTERNAL_CIDR = "172.24.0.0/16"


def connect(layout: Layout, cloud: str) -> Any:
    """Return a connection as one of the users of ``clouds.yaml``."""
    return openstack.connect(
        auth=credentials.auth(layout, cloud),
        region_name=catalogue.REGION,
        load_yaml_config=False,
        load_envvars=False,
    )


def main() -> None:
    """Seed all services of the home's set."""
    layout = current()
    _wait_for_port(layout.port("keystone"))
    _identity(connect(layout, "admin"), layout)
    # The first login got a catalogue of Keystone alone.
    admin = connect(layout, "admin")
    if "glance" in layout.services:
        _wait(lambda: list(admin.image.images(limit=1)) is not None)
        _images(admin)
    if "neutron" in layout.services:
        _wait(lambda: list(admin.network.networks()) is not None)
        _networks(admin)
    if "nova" in layout.services:
        _wait(lambda: list(admin.compute.flavors()) is not None)
        _compute(admin, layout)
    layout.seeded.touch()


def _wait_for_port(port: int) -> None:
    """Wait until something listens; Keystone does so when it is bootstrapped."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


def _wait(attempt: Any) -> None:
    """Try until a service answers."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            attempt()
        except (exceptions.ClientException, openstack.exceptions.SDKException):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        else:
            return


def _identity(admin: Any, layout: Layout) -> None:
    identity = admin.identity
    default = "default"
    for name in ("heat_stack_user", *MEMBER_EXTRAS):
        _ = identity.find_role(name) or identity.create_role(name=name)
    roles = {role.name: role for role in identity.roles()}
    projects = {}
    for name in credentials.PROJECTS:
        projects[name] = identity.find_project(name) or identity.create_project(
            name=name, domain_id=default
        )

    def user(name: str, project: str, *granted: str) -> None:
        account = identity.find_user(name, domain_id=default) or identity.create_user(
            name=name,
            password=PASSWORD,
            domain_id=default,
            default_project_id=projects[project].id,
        )
        for role in granted:
            identity.assign_project_role_to_user(projects[project], account, roles[role])

    for name in (*layout.services, catalogue.PRODUCT.name):
        if name != "keystone":
            user(name, "service", "admin", "service")
    for api in [api for name in layout.services for api in catalogue.apis(name)]:
        _endpoints(identity, layout, api)
    _endpoints(identity, layout, catalogue.PRODUCT)
    for cloud in credentials.TENANT_CLOUDS.values():
        extra = MEMBER_EXTRAS if cloud.role == "member" else ()
        user(cloud.user, cloud.project, cloud.role, *extra)
    _heat_domain(identity, roles)
    _trustee_domain(identity, roles)


def _endpoints(identity: Any, layout: Layout, service: catalogue.Service) -> None:
    known = {entry.type: entry for entry in identity.services()}
    entry = known.get(service.type) or identity.create_service(name=service.name, type=service.type)
    have = {endpoint.interface for endpoint in identity.endpoints(service_id=entry.id)}
    for interface in ("public", "internal", "admin"):
        if interface not in have:
            identity.create_endpoint(
                service_id=entry.id,
                interface=interface,
                url=layout.endpoint(service.name),
                region_id=catalogue.REGION,
            )


def _heat_domain(identity: Any, roles: dict[str, Any]) -> None:
    """Create the domain that Heat puts the users of its stacks into."""
    domain = identity.find_domain("heat") or identity.create_domain(name="heat")
    admin = identity.find_user("heat_domain_admin", domain_id=domain.id)
    admin = admin or identity.create_user(
        name="heat_domain_admin", password=PASSWORD, domain_id=domain.id
    )
    identity.assign_domain_role_to_user(domain, admin, roles["admin"])


def _trustee_domain(identity: Any, roles: dict[str, Any]) -> None:
    """Create the domain that Jeroboam puts the users of programs in clusters into."""
    name = credentials.TRUSTEE_DOMAIN
    domain = identity.find_domain(name) or identity.create_domain(name=name)
    service_user = credentials.CLOUDS[catalogue.PRODUCT.name].user
    admin = identity.find_user(service_user, domain_id="default")
    identity.assign_domain_role_to_user(domain, admin, roles["admin"])


def _images(admin: Any) -> None:
    for name, properties in IMAGES.items():
        if not admin.image.find_image(name):
            admin.create_image(
                name,
                data=name.encode() * 64,
                disk_format="raw",
                container_format="bare",
                visibility="public",
                **properties,
            )


def _networks(admin: Any) -> None:
    network = admin.network.find_network("public") or admin.network.create_network(
        name="public",
        is_router_external=True,
        provider_network_type="flat",
        provider_physical_network="public",
    )
    if not admin.network.find_subnet("public-subnet"):
        admin.network.create_subnet(
            network_id=network.id,
            name="public-subnet",
            ip_version=4,
            cidr=EXTERNAL_CIDR,
            is_dhcp_enabled=False,
        )


def _compute(admin: Any, layout: Layout) -> None:
    for name, vcpus, ram, disk in FLAVORS:
        if not admin.compute.find_flavor(name):
            admin.compute.create_flavor(name=name, vcpus=vcpus, ram=ram, disk=disk)
    demo = connect(layout, "demo")
    if demo.compute.find_keypair("demo"):
        return
    key = ed25519.Ed25519PrivateKey.generate()
    write_private(
        layout.demo_key,
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.OpenSSH,
            serialization.NoEncryption(),
        ).decode(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    demo.compute.create_keypair(name="demo", public_key=f"{public.decode()} demo@devcloud")


if __name__ == "__main__":
    main()
