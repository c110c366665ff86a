"""The generated files of a node with Docker, by the names that ``docker.yaml`` uses. Pure."""

import json
from collections.abc import Mapping

from jeroboam.drivers.base import ClusterSecrets
from jeroboam.drivers.docker.plan import DockerPlan
from jeroboam.drivers.nodes import placeholders
from jeroboam.drivers.nodes.manifest import Contents
from jeroboam.drivers.nodes.texts import environment, proxy_dropin, proxy_settings
from jeroboam.models import NodeGroup
from jeroboam.models.cluster import MASTER

STORAGE_DIRECTORY = "/var/lib/docker"
TLS = "/etc/jeroboam/tls"


def generate(
    plan: DockerPlan,
    secrets: ClusterSecrets,
    group: NodeGroup,
    settings: Mapping[str, str],
    daemon: Mapping[str, object],
) -> Contents:
    """Return the texts that every node with Docker needs.

    Args:
        settings: What the scripts of the COE need to know beside what is common.
        daemon: What the COE adds to the configuration of Docker.
    """
    proxies = proxy_settings(plan.spec.template, plan.no_proxy)
    return {
        "hostname": f"{placeholders.NODE_NAME}\n",
        # Heat makes it, a user and a password with which the node reports.
        "signal": placeholders.SIGNAL,
        "cluster_env": environment({**_common_settings(plan), **settings}),
        "node_env": environment(node_settings(group)),
        "proxy_env": environment(proxies),
        "proxy_dropin": proxy_dropin(proxies),
        "no_auto_update": "" if plan.labels["os_auto_update"] else "yes",
        "daemon_json": json.dumps({**_daemon(plan, group), **daemon}, indent=2) + "\n",
        "ca_crt": secrets.kubernetes.certificate,
        "ca_key": secrets.kubernetes.private_key,
    }


def _common_settings(plan: DockerPlan) -> dict[str, str]:
    return {
        "DOCKER_VERSION": plan.container_version,
        "DOCKER_URL": str(plan.labels["docker_url"]),
        "DOCKER_SHA256": str(plan.labels["docker_tarball_sha256"] or ""),
        "API_PORT": str(plan.api_port),
        "STORAGE_DIRECTORY": STORAGE_DIRECTORY,
        # No node of these clusters has a volume of the other kind.
        "DATA_DIRECTORY": "",
    }


def node_settings(group: NodeGroup) -> Mapping[str, str]:
    """Return what Heat knows of the single node; its words need no quotes."""
    settings = {
        "NODE_NAME": placeholders.NODE_NAME,
        "NODE_INDEX": placeholders.NODE_INDEX,
        "NODE_ADDRESS": placeholders.NODE_ADDRESS,
        "API_ADDRESS": placeholders.API_ADDRESS,
        "ETCD_VOLUME": "",
        "STORAGE_VOLUME": placeholders.STORAGE_VOLUME,
    }
    if group.role == MASTER:
        settings["PUBLIC_ADDRESS"] = placeholders.PUBLIC_ADDRESS
        settings["API_PUBLIC_ADDRESS"] = placeholders.API_PUBLIC_ADDRESS
    return settings


def _daemon(plan: DockerPlan, group: NodeGroup) -> dict[str, object]:
    registry = plan.spec.template.insecure_registry
    return {
        "hosts": ["unix:///var/run/docker.sock"],
        "storage-driver": "overlay2",
        "labels": [f"{name}={value}" for name, value in sorted(group.node_labels.items())],
        **({"insecure-registries": [registry]} if registry else {}),
    }
