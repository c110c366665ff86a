"""The driver's manifest; the version changes with anything that changes a cluster."""

version = "1.0.0"
Driver = "k8s_senlin_v1"
