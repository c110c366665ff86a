"""Writes what the services read at start: configuration, policy, plug-ins."""

from devcloud import options
from devcloud.layout import Layout, checkout, write_private

HEAT_POLICY = """\
# Jeroboam asks for the stacks of all projects in one request (global_tenant=True).
"stacks:global_index": "role:admin"
"""

SENLIN_POLICY = """\
# Profiles hold the user data of nodes, and with it keys of clusters.
"profiles:index": "role:admin"
"profiles:get": "role:admin"
"""

# Heat loads plug-ins from directories, not from packages.
HEAT_PLUGIN = """\
from devcloud.inside.standins import constraint_mapping, resource_mapping  # noqa: F401
"""

# Neutron finds mechanism drivers through entry points only, and an entry point needs the
# metadata of a distribution.
METADATA = "Metadata-Version: 2.1\nName: devcloud-plugins\nVersion: 1.0\n"
ENTRY_POINTS = """\
[neutron.ml2.mechanism_drivers]
devcloud = devcloud.inside.mechanism:InstantBinding
"""


def render(sections: options.Sections) -> str:
    """Return the text of a configuration file."""
    lines: list[str] = []
    for section, values in sections.items():
        lines.append(f"[{section}]")
        for key, value in values.items():
            every = value if isinstance(value, list) else [value]
            lines += [f"{key} = {one}" for one in every]
        lines.append("")
    return "\n".join(lines)


def write(layout: Layout) -> None:
    """Write the files of all services of the set."""
    for service in layout.services:
        for name, sections in options.FILES[service](layout).items():
            write_private(layout.etc / service / name, render(sections))
    write_private(layout.etc / "heat" / "policy.yaml", HEAT_POLICY)
    write_private(layout.etc / "senlin" / "policy.yaml", SENLIN_POLICY)
    write_private(layout.etc / "heat" / "plugins" / "devcloud_standins.py", HEAT_PLUGIN)
    _write_plugins(layout)
    for folder in (layout.logs, layout.run / "locks"):
        folder.mkdir(parents=True, exist_ok=True)


def _write_plugins(layout: Layout) -> None:
    """Make ``devcloud`` importable for the services, without the rest of the checkout."""
    metadata = layout.plugins / "devcloud_plugins-1.0.dist-info"
    write_private(metadata / "METADATA", METADATA)
    write_private(metadata / "entry_points.txt", ENTRY_POINTS)
    package = checkout() / "devcloud"
    link = layout.plugins / "devcloud"
    if not link.exists() or link.resolve() != package:
        link.unlink(missing_ok=True)
        link.symlink_to(package, target_is_directory=True)
