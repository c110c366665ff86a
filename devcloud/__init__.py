"""A real OpenStack on one machine, for trying and testing; README.md tells more."""

import sys

# Before anything that an older Python could not even read.
if sys.version_info < (3, 11):  # noqa: UP036 - whoever runs it has not read pyproject.toml
    sys.exit("devcloud: This Python is too old.\ndevcloud: Use Python 3.11 or later.")

from devcloud.cloud import Devcloud
from devcloud.errors import DevcloudError, UsageError
from devcloud.faults import Fault

__all__ = ["Devcloud", "DevcloudError", "Fault", "UsageError"]
