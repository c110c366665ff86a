"""Quotas, statistics and federations."""

from tests.integration.isolation.row import Row

#        owner member reader stranger nobody admin
ROWS: tuple[Row, ...] = ()
