"""Who may do what, route by route; one module for each part of the API."""

from tests.integration.isolation.rows import (
    certificates,
    clusters,
    engines,
    hooks_and_drivers,
    node_groups,
    operations,
    public,
    quotas,
    schedules,
    templates,
)

ROWS = (
    *public.ROWS,
    *templates.ROWS,
    *clusters.ROWS,
    *node_groups.ROWS,
    *operations.ROWS,
    *schedules.ROWS,
    *hooks_and_drivers.ROWS,
    *engines.ROWS,
    *certificates.ROWS,
    *quotas.ROWS,
)
