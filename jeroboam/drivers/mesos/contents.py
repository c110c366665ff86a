"""The generated files of a Mesos node, by the names that ``mesos.yaml`` uses. Pure."""

import hmac
import json
from collections.abc import Mapping
from hashlib import sha256

from jeroboam.drivers.base import ClusterSecrets
from jeroboam.drivers.docker import contents as docker
from jeroboam.drivers.mesos.plan import MARATHON_PORT, MASTER_PORT, MesosPlan
from jeroboam.drivers.nodes import placeholders
from jeroboam.drivers.nodes.manifest import Contents
from jeroboam.models import NodeGroup

AGENT, FRAMEWORK = "agent", "marathon"
_PURPOSES = {AGENT: b"jeroboam: agents of mesos", FRAMEWORK: b"jeroboam: frameworks of mesos"}
_NEEDS_LINUX = ("cgroups/", "namespaces/", "filesystem/linux", "docker/runtime")


def generate(plan: MesosPlan, secrets: ClusterSecrets, group: NodeGroup) -> Contents:
    """Return all texts that a node of a group may need; an empty one means that it does not."""
    values = plan.labels
    settings = {
        "CLUSTER_NAME": plan.spec.cluster.name,
        "MASTER_COUNT": str(plan.spec.masters.node_count),
        "IMAGE_PREFIX": plan.image_prefix,
        "QUORUM": str(plan.quorum),
        "MESOS_TAG": plan.coe_version,
        "MARATHON_TAG": str(values["marathon_tag"]),
        "ZOOKEEPER_TAG": str(values["zookeeper_tag"]),
        "HAPROXY_TAG": str(values["haproxy_tag"]),
        "AGENT_WORK_DIR": str(values["mesos_slave_work_dir"]),
    }
    agent, framework = credential(secrets, AGENT), credential(secrets, FRAMEWORK)
    common = docker.generate(plan, secrets, group, settings, {})
    return {
        **common,
        "node_env": common["node_env"] + f"MASTER_ADDRESSES={placeholders.MASTER_ADDRESSES}\n",
        "framework_secret": framework["secret"],
        "credentials": _json({"credentials": [agent, framework]}),
        "acls": _json(access_rules()),
        "gate": gate(plan),
        "credential": _json(agent),
        "agent_env": _lines(agent_settings(plan, group)),
    }


def credential(secrets: ClusterSecrets, principal: str) -> Mapping[str, str]:
    """Return how a part of the cluster proves to the masters who it is.

    The agents' secret is made from the bootstrap token and that of frameworks from the
    service-account key, so that they are the same each time, and no agent can be a framework.
    """
    source = secrets.bootstrap_token if principal == AGENT else secrets.service_account_key
    secret = hmac.new(source.encode(), _PURPOSES[principal], sha256).hexdigest()
    return {"principal": principal, "secret": secret}


def access_rules() -> Mapping[str, object]:
    """Return who may register what with the masters; the first rule that fits counts."""
    anybody = {"type": "ANY"}
    nothing = {"type": "NONE"}
    return {
        "register_agents": [
            {"principals": {"values": [AGENT]}, "agents": anybody},
            {"principals": anybody, "agents": nothing},
        ],
        "register_frameworks": [
            {"principals": {"values": [FRAMEWORK]}, "roles": anybody},
            {"principals": anybody, "roles": nothing},
        ],
    }


def agent_settings(plan: MesosPlan, group: NodeGroup) -> Mapping[str, str]:
    """Return an agent's settings that are known before it boots."""
    values = plan.labels
    isolation = str(values["mesos_slave_isolation"] or "")
    attributes = ";".join(f"{name}:{value}" for name, value in sorted(group.node_labels.items()))
    settings = {
        "MESOS_CONTAINERIZERS": "docker,mesos",
        "MESOS_WORK_DIR": str(values["mesos_slave_work_dir"]),
        # In a container there is no systemd to ask for control groups.
        "MESOS_SYSTEMD_ENABLE_SUPPORT": "false",
        "MESOS_LAUNCHER": "linux" if any(one in isolation for one in _NEEDS_LINUX) else "posix",
        "MESOS_ISOLATION": isolation,
        "MESOS_IMAGE_PROVIDERS": str(values["mesos_slave_image_providers"] or ""),
        "MESOS_EXECUTOR_ENVIRONMENT_VARIABLES": str(
            values["mesos_slave_executor_env_variables"] or ""
        ),
        "MESOS_ATTRIBUTES": attributes,
    }
    return {name: value for name, value in settings.items() if value}


def gate(plan: MesosPlan) -> str:
    """Return HAProxy's configuration: TLS for those whom the cluster's authority vouches for."""
    bind = f"bind :{plan.api_port} ssl crt /tls/server.pem ca-file /tls/ca.crt verify required"
    lines = [
        "global",
        "    log stdout format raw local0 notice",
        "defaults",
        "    mode http",
        "    log global",
        "    timeout connect 5s",
        "    timeout client 60s",
        "    timeout server 60s",
        "frontend gate",
        f"    {bind} ssl-min-ver TLSv1.2",
        "    use_backend mesos if { path /mesos } or { path_beg /mesos/ }",
        "    default_backend marathon",
        "backend marathon",
        f"    server self {placeholders.NODE_ADDRESS}:{MARATHON_PORT}",
        "backend mesos",
        r"    http-request replace-path /mesos/?(.*) /\1",
        f"    server self {placeholders.NODE_ADDRESS}:{MASTER_PORT}",
    ]
    return "\n".join([*lines, ""])


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _lines(settings: Mapping[str, str]) -> str:
    """Return settings as Docker reads them from a file: to the end of the line, without quotes."""
    return "".join(f"{name}={value}\n" for name, value in settings.items())
