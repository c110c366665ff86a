"""Whether Heat's engines were restarted; asked of Heat itself, once per poll of a cloud."""

from datetime import datetime

import structlog

from jeroboam.drivers.base import CloudAccess
from jeroboam.drivers.heat import phases
from jeroboam.drivers.heat.clients import service_client
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import JeroboamError

log = structlog.get_logger(__name__)


def changed_at(cloud: CloudAccess) -> datetime | None:
    """Return when an engine last started or was lost; ``None`` when Heat does not tell.

    By default Heat shows its engines to administrators only. Without an answer, a stack that
    Heat lost runs into its time limit instead of being submitted again.
    """
    try:
        with translate_cloud_errors("Heat"):
            services = [service.to_dict() for service in service_client(cloud).services.list()]
    except JeroboamError as error:
        log.debug("heat_engines_unknown", cloud=cloud.name, reason=error.message)
        return None
    return phases.engines_changed_at(services)
