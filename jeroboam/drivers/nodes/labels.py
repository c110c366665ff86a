"""Kinds of label values, and the labels that clusters of every COE understand."""

import re

from jeroboam.drivers.labels import BOOLEAN, NATURAL, NETWORK, NETWORKS, Kind, Label, choice

_VERSION = re.compile(r"v?\d+\.\d+\.\d+(?:[-+][\w.+-]+)?")
_URL = re.compile(r"https?://[^\s\"'\\]+")
_PREFIX = re.compile(r"[a-z0-9][\w.:/-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[\w.:+-]+")


def matching(name: str, expected: str, pattern: re.Pattern[str]) -> Kind:
    """Return a kind of text that fits a pattern as a whole."""

    def parse(text: str) -> str:
        if not pattern.fullmatch(text):
            raise ValueError(text)
        return text

    return Kind(name, expected, parse)


def between(name: str, smallest: int, largest: int) -> Kind:
    """Return a kind of whole number."""

    def parse(text: str) -> int:
        if not smallest <= int(text) <= largest:
            raise ValueError(text)
        return int(text)

    return Kind(name, f"a number from {smallest} to {largest}", parse)


def _tag(text: str) -> str:
    return f"v{_number(text)}"


def _number(text: str) -> str:
    if not _VERSION.fullmatch(text):
        raise ValueError(text)
    return text.removeprefix("v")


VERSION = Kind("version", "a version as v1.2.3", _tag)
NUMBER = Kind("version", "a version as 1.2.3", _number)
URL = matching("URL", "an http or https URL", _URL)
PREFIX = matching("registry prefix", "a registry with an optional path", _PREFIX)
SHA256 = matching("SHA-256", "64 hexadecimal digits", _SHA256)
NAME = matching("name", "a name without blanks or quotes", _NAME)

IMAGE_PREFIX = Label(
    "container_infra_prefix",
    PREFIX,
    "",
    "Registry (and path) from which all images of the cluster itself are pulled.",
)
CLOUD = (
    Label(
        "fixed_subnet_cidr",
        NETWORK,
        "10.0.0.0/24",
        "Subnet of the nodes, where the cluster gets a network of its own.",
    ),
    Label("availability_zone", NAME, "", "Availability zone of servers and volumes."),
    Label(
        "server_group_policy",
        choice("soft-anti-affinity", "anti-affinity", "soft-affinity", "affinity"),
        "soft-anti-affinity",
        "How masters, and workers, are spread over hosts.",
    ),
    Label("boot_volume_size", NATURAL, "0", "GiB of a boot volume; 0 boots from a local disk."),
    Label("boot_volume_type", NAME, "", "Volume type of boot volumes."),
    Label(
        "docker_volume_type",
        NAME,
        "",
        "Volume type of the volumes for containers (docker_volume_size).",
    ),
    Label("octavia_provider", NAME, "", "Octavia provider of the API's load balancer."),
    Label(
        "octavia_lb_algorithm",
        choice("ROUND_ROBIN", "LEAST_CONNECTIONS", "SOURCE_IP", "SOURCE_IP_PORT"),
        "",
        "How it chooses a master; SOURCE_IP_PORT for the provider ovn, else ROUND_ROBIN.",
    ),
    Label(
        "master_lb_floating_ip_enabled",
        BOOLEAN,
        "",
        "Floating IP for the API's load balancer; as floating_ip_enabled if not set.",
    ),
    Label(
        "master_lb_allowed_cidrs",
        NETWORKS,
        "",
        "Networks that may reach the API's load balancer; all if not set.",
    ),
    Label(
        "min_node_count",
        NATURAL,
        "",
        "Smallest size of the default group of workers, for an autoscaler.",
    ),
    Label(
        "max_node_count",
        NATURAL,
        "",
        "Largest size of the default group of workers, for an autoscaler.",
    ),
    Label(
        "ssh_allowed_cidrs",
        NETWORKS,
        "0.0.0.0/0",
        "Networks that may reach the nodes by SSH; counts only where there is a key pair.",
    ),
)
