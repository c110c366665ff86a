"""A real OpenStack on one machine, for trying and testing; README.md tells more."""

from devcloud.cloud import Devcloud
from devcloud.errors import DevcloudError, UsageError
from devcloud.faults import Fault

__all__ = ["Devcloud", "DevcloudError", "Fault", "UsageError"]
