"""What a test must not need: a cloud and its secrets."""

from jeroboam.drivers.base import ClusterSecrets
from jeroboam.testing.without_cloud import NoCloud

__all__ = ["NoCloud", "no_secrets"]


def no_secrets() -> ClusterSecrets:
    raise AssertionError("This driver needs no secrets.")
