"""The driver's manifest; the version changes with anything that changes a cluster."""

version = "1.2.0"
Driver = "k8s_fedora_coreos_v1"
