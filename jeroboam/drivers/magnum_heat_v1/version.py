"""The driver's manifest; the version changes with anything that changes a cluster."""

version = "1.0.0"
Driver = "magnum_heat_v1"
