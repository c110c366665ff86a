"""Clusters of the Fedora CoreOS driver, and secrets for them."""

from typing import Any

from jeroboam.drivers.k8s_fedora_coreos_v1.driver import FedoraCoreosDriver
from jeroboam.models import ClusterSpec
from jeroboam.testing import specs
from jeroboam.testing.without_cloud import secrets

__all__ = ["make_spec", "secrets"]


def make_spec(**fields: Any) -> ClusterSpec:
    """Return a valid cluster; for the fields see ``jeroboam.testing.specs``."""
    return specs.make_spec(FedoraCoreosDriver(), **fields)
