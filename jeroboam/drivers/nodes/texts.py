"""Texts that nodes of every COE get. Pure."""

import shlex
from collections.abc import Mapping

from jeroboam.drivers.nodes import placeholders
from jeroboam.models import ClusterTemplate


def environment(settings: Mapping[str, str]) -> str:
    """Return settings in the form that both shells and systemd read."""
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in settings.items())


def proxy_settings(template: ClusterTemplate, no_proxy: str) -> Mapping[str, str]:
    """Return the proxy variables in both spellings: curl reads the lower-case ones only.

    Args:
        no_proxy: What is reached directly beside the node itself and the cluster's API.
    """
    proxies = {"http_proxy": template.http_proxy, "https_proxy": template.https_proxy}
    given = {name: url for name, url in proxies.items() if url}
    if not given:
        return {}
    given["no_proxy"] = f"{no_proxy},{placeholders.API_ADDRESS},{placeholders.NODE_ADDRESS}"
    return given | {name.upper(): value for name, value in given.items()}


def proxy_dropin(settings: Mapping[str, str]) -> str:
    """Return the drop-in of a unit that shall use the proxies, nothing where there are none."""
    return "[Service]\nEnvironmentFile=/etc/jeroboam/proxy.env\n" if settings else ""
