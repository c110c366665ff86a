"""The users of a devcloud, and the files and variables which let clients be them."""

import shlex
from dataclasses import dataclass

from devcloud import catalogue
from devcloud.errors import UsageError
from devcloud.layout import Layout, write_private
from devcloud.options import PASSWORD


@dataclass(frozen=True, slots=True)
class Cloud:
    """One entry of ``clouds.yaml``: a user in a project."""

    user: str
    project: str
    role: str


TENANT_CLOUDS = {
    f"{project}{suffix}": Cloud(f"{project}{suffix}", project, role)
    for project in ("demo", "other")
    for suffix, role in (("", "member"), ("-admin", "admin"), ("-reader", "reader"))
}
CLOUDS = {
    "admin": Cloud("admin", "admin", "admin"),
    "jeroboam": Cloud("jeroboam", "service", "admin"),
    **TENANT_CLOUDS,
}
PROJECTS = ("service", "demo", "other")

TRUSTEE_DOMAIN = "jeroboam_users"
"""Where Jeroboam makes the users of programs in clusters; user jeroboam is its administrator."""


def auth(layout: Layout, cloud: str) -> dict[str, str]:
    """Return what a password login of a cloud's user needs.

    Raises:
        UsageError: If there is no such cloud.
    """
    try:
        known = CLOUDS[cloud]
    except KeyError:
        names = ", ".join(CLOUDS)
        raise UsageError(f"There is no cloud called {cloud!r}.", f"Choose from: {names}.") from None
    return {
        "auth_url": layout.endpoint("keystone"),
        "username": known.user,
        "password": PASSWORD,
        "project_name": known.project,
        "user_domain_name": "Default",
        "project_domain_name": "Default",
    }


def write_clouds_yaml(layout: Layout) -> None:
    """Write the client configuration for all clouds."""
    lines = ["clouds:"]
    for name in CLOUDS:
        lines += [f"  {name}:", "    auth:"]
        lines += [f"      {key}: {value}" for key, value in auth(layout, name).items()]
        lines += [f"    region_name: {catalogue.REGION}", '    identity_api_version: "3"']
    write_private(layout.clouds_yaml, "\n".join(lines) + "\n")


def exports(layout: Layout, cloud: str) -> str:
    """Return shell commands that make OpenStack's command line use a cloud."""
    values = {f"OS_{key.upper()}": value for key, value in auth(layout, cloud).items()}
    values |= {"OS_IDENTITY_API_VERSION": "3", "OS_REGION_NAME": catalogue.REGION}
    lines = ["unset OS_CLOUD OS_TOKEN OS_PROJECT_ID OS_USER_ID OS_TRUST_ID"]
    lines += [f"export {key}={shlex.quote(value)}" for key, value in values.items()]
    return "\n".join(lines)
