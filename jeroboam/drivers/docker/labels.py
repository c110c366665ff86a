"""The labels of all drivers whose nodes run Docker."""

from jeroboam.drivers.labels import BOOLEAN, Label
from jeroboam.drivers.nodes.labels import CLOUD, NUMBER, SHA256, URL

COMMON = (
    Label("docker_version", NUMBER, "29.9.3", "Version of Docker."),
    Label(
        "docker_url",
        URL,
        "https://download.docker.com/linux/static/stable",
        "Where Docker is; `/<architecture>/docker-<version>.tgz` follows.",
    ),
    Label(
        "docker_tarball_sha256",
        SHA256,
        "",
        "Checksum of Docker's archive, of which Docker publishes none.",
    ),
    Label(
        "os_auto_update",
        BOOLEAN,
        "false",
        "Whether nodes update their system, and reboot for it, by themselves.",
    ),
    *CLOUD,
)

# Labels of Magnum's drivers that are refused, and what to do instead.
RETIRED = {
    "rexray_preempt": "REX-Ray has been given up. Use volumes of the nodes, or a plug-in of yours.",
    "heat_container_agent_tag": "There is no agent on the nodes. Leave it out.",
    "server_group_policies": "Set server_group_policy.",
    "boot_volume_availability_zone": "Set availability_zone.",
    "use_podman": "Docker runs under systemd itself. Leave it out.",
}

# What a cluster got when it was built and an upgrade cannot change.
FIXED = (
    *("fixed_subnet_cidr", "ssh_allowed_cidrs", "availability_zone", "server_group_policy"),
    *("boot_volume_size", "boot_volume_type", "docker_volume_type"),
    *("octavia_provider", "octavia_lb_algorithm"),
    *("master_lb_floating_ip_enabled", "master_lb_allowed_cidrs"),
)

# What a node group may have otherwise than its cluster; the rest holds for all nodes.
OF_GROUPS = frozenset(
    {
        *("docker_version", "docker_url", "docker_tarball_sha256"),
        *("availability_zone", "server_group_policy", "boot_volume_size", "boot_volume_type"),
        *("docker_volume_type", "min_node_count", "max_node_count", "os_auto_update"),
    }
)
